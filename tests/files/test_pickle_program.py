import collections
import pickle
import time

import pytest

from tiedviz.files import pickle_program
from tiedviz.files.pickle_program import INERT, walk_pickle
from tiedviz.words.refusals.file import FileRefusal


class Runs:
    """Calls `function(*arguments)` when an ordinary unpickler opens it."""

    def __init__(self, function, *arguments):
        self.call = function, arguments

    def __reduce__(self):
        return self.call


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_plain_values_come_back(protocol):
    value = {"a": [1, -2, 2**40, 0.5], "b": (True, None, "é"), "c": {"d": ()}, "e": (1, 2, 3, 4)}
    assert walk_pickle(pickle.dumps(value, protocol), "m.bin") == value


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_code_is_named_and_not_run(tmp_path, protocol):
    victim = tmp_path / "victim"
    program = pickle.dumps({"w": Runs(victim.write_text, "ran")}, protocol)
    with pytest.raises(FileRefusal, match="which can run code; nothing was run") as refusal:
        walk_pickle(program, "m.bin")
    assert not victim.exists()
    pickle.loads(program)
    assert victim.exists()  # the program does what it is accused of
    assert "weights_only" not in str(refusal.value)
    assert "safetensors" in refusal.value.remedy


@pytest.mark.parametrize(
    ("program", "called"),
    [
        (b"cos\nsystem\n(S'true'\ntR.", "os.system"),
        (b"(S'true'\nios\nsystem\n.", "os.system"),
        (b"(cos\nsystem\nS'true'\no.", "os.system"),
        (b"\x80\x04\x8c\x02os\x8c\x06system\x93.", "os.system"),
        (b"cbuiltins\neval\n.", "builtins.eval"),
        (b"ctorch\nload\n.", "torch.load"),
        (b"ctorch.hub\nload\n.", "torch.hub.load"),
        (b"ctorch._utils\n_import_dotted_name\n.", "torch._utils._import_dotted_name"),
        (b"ctorch.storage\nos.system\n.", "torch.storage.os.system"),
        (b"c__torch__\nModule\n.", "__torch__.Module"),
    ],
)
def test_every_way_of_naming_something_is_seen(program, called):
    with pytest.raises(FileRefusal, match=f"`{called}`"):
        walk_pickle(program, "m.bin")


def test_a_name_with_control_characters_is_escaped():
    with pytest.raises(FileRefusal, match="which can run code; nothing was run") as refusal:
        walk_pickle(b"\x80\x04\x8c\x02os\x8c\x05a\x1b[31\x93.", "m.bin")
    assert "os.a\\x1b[31" in str(refusal.value)


def test_harmless_objects_of_no_interest_stay_stand_ins():
    value = collections.OrderedDict([("c", collections.Counter("aab")), ("s", {1})])
    assert walk_pickle(pickle.dumps(value, 2), "m.bin") == {"c": INERT, "s": INERT}


@pytest.mark.parametrize(
    "program",
    [
        b"",
        b".",
        b"\x80\x02",
        b"\x80\x02}",
        b"\x80\x02R.",
        b"\x80\x02h\x07.",
        b"\x80\x02tttt.",
        b"\x80\x02)}s.",
        b"\x80\x02NNNs.",
        b"\x80\x02}(Nu.",
        b"\x80\x02]Q.",
        b"\x80\x02(NNQ.",
        b"\x80\x02\x82\x01.",
        b"\x80\x02X\xff\xff\xff\x7fabc.",
        b"\x80\x04\x8d\xff\xff\xff\xff\xff\xff\xff\x7fabc.",
        b"\x80\x04\x8cN\x93.",
        b"I" + b"9" * 10_000 + b"\n.",
        b"ctorch._utils\n_rebuild_tensor_v2\n)R.",
        b"ctorch._utils\n_rebuild_tensor_v2\n(NNNNNNtR.",
        b"ctorch._tensor\n_rebuild_from_type_v2\n(NNNtR.",
    ],
)
def test_a_program_that_is_not_whole_is_damage(program):
    with pytest.raises(FileRefusal, match="the file is damaged"):
        walk_pickle(program, "m.bin")


def test_a_memory_cell_with_a_huge_number_takes_no_memory():
    # Python's own machine sets aside room for every cell up to the one that is named.
    assert walk_pickle(b"\x80\x02Nr\xff\xff\xff\x7f.", "m.bin") is None


def test_a_million_tuples_in_tuples_do_no_harm():
    deep = b"\x80\x02}" + b")" + b"\x85" * 1_000_000 + b"Ns."
    assert walk_pickle(deep, "m.bin") == {}


def test_a_program_of_millions_of_instructions_is_hostile(monkeypatch):
    monkeypatch.setattr(pickle_program, "MAX_STEPS", 100)
    with pytest.raises(FileRefusal, match="over 100 steps"):
        walk_pickle(b"N0" * 100 + b".", "m.bin")


def took(program):
    """Seconds until the program is refused."""
    began = time.perf_counter()
    with pytest.raises(FileRefusal):
        walk_pickle(program, "m.bin")
    return time.perf_counter() - began


DOUBLED = b"\x80\x04)" + b"".join(
    b"q" + bytes([n]) + b"h" + bytes([n]) + b"\x86" for n in range(60)
)


@pytest.mark.parametrize(
    "end",
    [
        b"\x8c\x01a\x93.",  # the module of a name
        b"q\xf0\x8c\x05torch\x94h\xf0\x93.",  # the name in it
        b"Q.",  # a persistent id
        b"q\xf0ctorch._utils\n_rebuild_tensor_v2\nh\xf0R.",  # what a call is given
        b"q\xf0c_codecs\nencode\nh\xf0\x85R0h\xf0R.",
    ],
)
def test_a_tuple_doubled_sixty_times_is_never_gone_through(end):
    """Its 2^60 elements are sixty objects, as long as nobody prints, hashes or compares them."""
    assert took(DOUBLED + end) < 1


LONG = b"\x80\x02]q\x00(" + b"N" * 1_000_000 + b"e0"


@pytest.mark.parametrize(
    "each",
    [
        b"ccollections\nOrderedDict\nh\x00\x85R0",  # copies of the list as pairs
        b"ccollections\nCounter\nh\x00\x85R0",
    ],
)
def test_a_long_list_that_is_used_over_and_over_is_paid_for_each_time(each):
    assert took(LONG + each * 500 + b"N.") < 10


@pytest.mark.parametrize("levels", [1, 2, 100_000])
def test_a_subclass_in_a_subclass_is_not_followed(levels):
    name = b"ctorch._tensor\n_rebuild_from_type_v2\n"
    program = b"\x80\x02" + name + name + b"N(NNt"
    for _ in range(levels):
        program += b"\x87r\x05\x00\x00\x000" + name + b"Nj\x05\x00\x00\x00"
    program = program + b"\x87r\x06\x00\x00\x000" + name + b"j\x06\x00\x00\x00R."
    assert took(program) < 10


def test_a_list_that_holds_itself_is_not_followed():
    name = b"ctorch._tensor\n_rebuild_from_type_v2\n"
    # [name, None, itself], handed to that name in place of a tuple
    program = b"\x80\x02" + name + b"]q\x00(" + name + b"Nh\x00eR."
    assert took(program) < 1
