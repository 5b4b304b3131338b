"""What would a pickle build? Its program is walked with inert stand-ins, and nothing is called.

A pickle is a program for a small stack machine. Python's own machine calls whatever the program
names; this one knows the few names that PyTorch writes for tensors, and refuses all others by name.
It also keeps its memory by the instruction, where Python's sets aside what the program asks for.
"""

from __future__ import annotations

import pickletools
import re
import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tiedviz.words.refusals.file import FileRefusal

# Instructions, and elements that they copy; about fifty describe a tensor. What a program holds in
# its memory it can name again for nothing, so that elements count each time they are gone through.
MAX_STEPS = 3_000_000

# What `torch.load(weights_only=True)` accepts and a model's weights need.
_REBUILDS_VIEW = re.compile(r"torch\._utils\._rebuild_(tensor(_v[23])?|qtensor)")
_REBUILDS_PARAMETER = re.compile(
    r"torch\._utils\._rebuild_parameter(_with_state)?|torch\.nn\.parameter\.Parameter"
)
_SUBCLASS = "torch._tensor._rebuild_from_type_v2"
_OTHER_NAMES = re.compile(
    r"torch\.(cuda\.|storage\.)?[A-Z]\w*(Storage|Tensor)|torch\.(Size|device|Tensor)"
    r"|torch\.(b?float|q?u?int|complex)\d+(_\w+|x\d)?|torch\.(bool|per_(tensor|channel)_\w+)"
    r"|collections\.(OrderedDict|Counter)|builtins\.(set|complex|bytearray)|_codecs\.encode"
    r"|torch\.serialization\._get_layout|torch\._utils\._rebuild_\w*tensor\w*"
)

_LITERAL = re.compile(r"\w*(INT[12]?|LONG[14]?|UNICODE8?|STRING|FLOAT|BYTES8?|BYTEARRAY8)")
_FIXED = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False, "EMPTY_TUPLE": ()}
_TUPLES = {"TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}
_EMPTY: dict[str, Callable[[], Any]] = {"EMPTY_DICT": dict, "EMPTY_LIST": list, "EMPTY_SET": list}

# What walking a malformed program ends in: a missing operand, argument or memory cell.
_MALFORMED = (ValueError, IndexError, KeyError, TypeError, AttributeError, OverflowError)


@dataclass(frozen=True)
class Name:
    """Something the program asks Python for; never looked up."""

    path: str


@dataclass(frozen=True)
class Storage:
    """A run of numbers elsewhere in the file."""

    kind: str
    """Such as torch.FloatStorage."""
    key: str
    numbers: int


@dataclass(frozen=True)
class TensorView:
    """A tensor as part of a storage; offset, shape and stride are the program's word, unchecked."""

    storage: Storage
    offset: Any
    shape: Any
    stride: Any
    dtype: str | None
    """Such as torch.uint16, where the storage does not say it."""


INERT = Name("an object of no interest")


def walk_pickle(program: bytes, name: str) -> object:
    """What the program would build: dicts, lists, tuples, literals, `TensorView`s; else `INERT`.

    Raises:
        FileRefusal: it is not a whole pickle, it uses what PyTorch never writes, it takes millions
            of steps, or it names something else than the parts of tensors.
    """
    machine = _Machine(name)
    try:
        for opcode, argument, _ in pickletools.genops(program):
            machine.spend(1)
            machine.step(opcode.name, argument)
        return machine.stack[-1]
    except (*_MALFORMED, struct.error) as error:
        raise FileRefusal.damaged(name, "its pickle is not what PyTorch writes") from error


class _Machine:
    """The stack machine, without the part that calls."""

    def __init__(self, file: str) -> None:
        self.stack: list[Any] = []
        self._file = file
        self._left = MAX_STEPS
        self._below: list[list[Any]] = []  # the stacks under each open mark
        self._memo: dict[int, Any] = {}
        self._steps: dict[str, Callable[[Any], None]] = self._other_steps()

    def spend(self, steps: int) -> None:
        """Take steps off what is left; a program that wants more is refused."""
        self._left -= steps
        if self._left < 0:
            raise FileRefusal.hostile(self._file, f"a pickle of over {MAX_STEPS:,} steps")

    def step(self, opcode: str, argument: Any) -> None:
        if opcode in ("BINPUT", "LONG_BINPUT", "PUT"):
            self._memo[argument] = self.stack[-1]
        elif opcode in ("BINGET", "LONG_BINGET", "GET"):
            self.stack.append(self._memo[argument])
        elif opcode in _FIXED:
            self.stack.append(_FIXED[opcode])
        elif opcode in _EMPTY:
            self.stack.append(_EMPTY[opcode]())
        elif opcode in _TUPLES:
            self._gather(_TUPLES[opcode])
        elif opcode in self._steps:
            self._steps[opcode](argument)
        elif _LITERAL.fullmatch(opcode):
            self.stack.append(argument)
        else:
            raise ValueError(opcode)

    def _other_steps(self) -> dict[str, Callable[[Any], None]]:
        def nothing(_: Any) -> None:
            return None

        return {
            "PROTO": nothing,
            "FRAME": nothing,
            "STOP": nothing,
            "MARK": lambda _: self._open_mark(),
            "TUPLE": lambda _: self._push(tuple(self._above_mark())),
            "LIST": lambda _: self._push(self._above_mark()),
            "DICT": lambda _: self._new_dict(self._above_mark()),
            "POP": lambda _: self._drop(),
            "POP_MARK": lambda _: self._drop_mark(),
            "MEMOIZE": lambda _: self._memo.update({len(self._memo): self.stack[-1]}),
            "SETITEM": lambda _: self._set([self.stack.pop(-2), self.stack.pop()]),
            "SETITEMS": lambda _: self._set(self._above_mark()),
            "APPEND": lambda _: self._extend([self.stack.pop()]),
            "APPENDS": lambda _: self._extend(self._above_mark()),
            "ADDITEMS": lambda _: self._extend(self._above_mark()),
            "GLOBAL": lambda path: self._name(path.replace(" ", ".", 1)),
            "INST": lambda path: self._name(path.replace(" ", ".", 1)),
            "STACK_GLOBAL": lambda _: self._name_of_two(self.stack.pop(-2), self.stack.pop()),
            "BINPERSID": lambda _: self._push(_storage(self.stack.pop())),
            "REDUCE": lambda _: self._call(),
            "NEWOBJ": lambda _: self._call(),
            "BUILD": lambda _: self._drop(),  # attributes of a dict or tensor: not needed
        }

    def _push(self, value: Any) -> None:
        self.stack.append(value)

    def _drop(self) -> None:
        self.stack.pop()

    def _open_mark(self) -> None:
        self._below.append(self.stack)
        self.stack = []

    def _above_mark(self) -> list[Any]:
        items, self.stack = self.stack, self._below.pop()
        return items

    def _drop_mark(self) -> None:
        self._above_mark()

    def _gather(self, count: int) -> None:
        items = tuple(self.stack.pop() for _ in range(count))
        self.stack.append(items[::-1])

    def _new_dict(self, items: list[Any]) -> None:
        self.stack.append({})
        self._set(items)

    def _set(self, items: list[Any]) -> None:
        # Only names of tensors matter; other keys could be built so that hashing them never ends.
        pairs = zip(items[::2], items[1::2], strict=True)
        self.stack[-1].update({key: value for key, value in pairs if type(key) is str})

    def _extend(self, items: list[Any]) -> None:
        self.stack[-1].extend(items)

    def _name(self, path: str) -> None:
        path = re.sub(r"^__builtin__\b", "builtins", path)  # its name in Python 2
        known = _REBUILDS_VIEW, _REBUILDS_PARAMETER, _OTHER_NAMES
        if path != _SUBCLASS and not any(names.fullmatch(path) for names in known):
            raise FileRefusal.pickle_runs_code(self._file, path)
        self.stack.append(Name(path))

    def _name_of_two(self, module: object, name: object) -> None:
        # anything else could be built so that to print it never ends
        if type(module) is not str or type(name) is not str:
            raise TypeError("a name that is not made of two texts")
        self._name(f"{module}.{name}")

    def _call(self) -> None:
        arguments = self.stack.pop()
        if type(arguments) is not tuple:
            raise TypeError("a call without a tuple of arguments")
        self.spend(sum(len(each) for each in arguments[:3] if isinstance(each, list | tuple)))
        self.stack.append(_result(self.stack.pop().path, arguments))


def _result(path: str, arguments: tuple[Any, ...]) -> Any:
    """What the named function would give, as a stand-in."""
    if path == _SUBCLASS:
        path, arguments = arguments[0].path, arguments[2]
        if path == _SUBCLASS or type(arguments) is not tuple:  # PyTorch wraps a tensor once
            raise TypeError(path)
    if path == "collections.OrderedDict":
        return dict(pair for pair in arguments[0] if type(pair[0]) is str) if arguments else {}
    if path == "torch.Size":
        return arguments[0]
    if _REBUILDS_PARAMETER.fullmatch(path):
        return arguments[0]
    if not _REBUILDS_VIEW.fullmatch(path):
        return INERT
    storage, offset, shape, stride = arguments[:4]
    if not isinstance(storage, Storage):
        raise TypeError(path)
    dtype = arguments[6].path if path.endswith("_v3") else None
    return TensorView(storage, offset, shape, stride, dtype)


def _storage(identity: Any) -> Storage:
    """The storage that a persistent id stands for: ("storage", kind, key, device, numbers)."""
    word, kind, key, _, numbers = identity[:5]
    if word != "storage" or type(key) is not str or type(numbers) is not int:
        raise ValueError(word)
    return Storage(kind.path, key, numbers)
