"""How a token is printed: its bytes, and marks for everything a screen would hide.

A tokenizer stores each token as a *piece*, in an alphabet of its own. What a person wants to see is
the text the piece stands for, and where it is not whole text, its bytes. `Token.shown` never
contains a bare space, a control character or a lone replacement mark, so that eight different byte
tokens never look like eight equal ones. `characters` says which tokens spell one character
together.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache


class Alphabet(StrEnum):
    """The ways a tokenizer writes bytes as a piece."""

    BYTE_LEVEL = "byte level"  # GPT-2: each byte is one printable character
    BYTE_FALLBACK = "byte fallback"  # SentencePiece BPE: ▁ for a space, <0xE4> for a stray byte
    METASPACE = "metaspace"  # SentencePiece unigram: ▁ for a space
    WORDPIECE = "wordpiece"  # BERT: ## continues a word
    END_OF_WORD = "end of word"  # GPT-1, CLIP: </w> ends a word
    PLAIN = "plain"  # the piece is the text


@cache
def _byte_of_character() -> dict[str, int]:
    """GPT-2's printable stand-in for each byte, turned round (Radford et al. 2019, encoder.py)."""
    printable = [*range(ord("!"), ord("~") + 1), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    table = {chr(byte): byte for byte in printable}
    hidden = [byte for byte in range(256) if byte not in set(printable)]
    table.update({chr(256 + index): byte for index, byte in enumerate(hidden)})
    return table


_BYTE_PIECE = re.compile(r"<0x([0-9A-Fa-f]{2})>")


def piece_bytes(piece: str, alphabet: Alphabet) -> bytes:
    """The UTF-8 bytes a piece stands for.

    A character that the alphabet does not know (an added token in a byte-level vocabulary, say)
    stands for itself.
    """
    if alphabet is Alphabet.BYTE_LEVEL:
        table = _byte_of_character()
        if all(character in table for character in piece):
            return bytes(table[character] for character in piece)
        return piece.encode("utf-8", "surrogatepass")
    if alphabet is Alphabet.BYTE_FALLBACK and (byte := _BYTE_PIECE.fullmatch(piece)):
        return bytes([int(byte[1], 16)])
    if alphabet in (Alphabet.BYTE_FALLBACK, Alphabet.METASPACE):
        piece = piece.replace("▁", " ")
    elif alphabet is Alphabet.WORDPIECE:
        piece = piece.removeprefix("##")
    elif alphabet is Alphabet.END_OF_WORD and piece.endswith("</w>"):
        piece = piece.removesuffix("</w>") + " "
    return piece.encode("utf-8", "surrogatepass")


@dataclass(frozen=True)
class Token:
    """One row of the vocabulary, ready to be printed.

    Attributes:
        id: the row of E.
        piece: the text the tokenizer stores, or None for a row that no token uses.
        raw: the bytes it stands for; a special token stands for its own name.
        special: whether the tokenizer treats it as a mark instead of text.
    """

    id: int
    piece: str | None
    raw: bytes
    special: bool = False

    @property
    def text(self) -> str:
        """The decoded text, with U+FFFD where the bytes are no whole character."""
        return self.raw.decode("utf-8", "replace")

    @property
    def whole(self) -> bool:
        """Whether the bytes are complete characters."""
        return is_whole(self.raw)

    @property
    def shown(self) -> str:
        """The token as a person should see it: nothing invisible, nothing ambiguous but by id."""
        if self.piece is None:
            return f"∅ row {self.id}"
        return visible(self.raw) or "∅"

    @property
    def hex(self) -> str:
        """The bytes as `E4 BD A0`."""
        return self.raw.hex(" ").upper()


def is_whole(raw: bytes) -> bool:
    """Whether bytes are complete characters, or none."""
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def visible(raw: bytes) -> str:
    """Bytes as text in which every space, control character and stray byte can be seen.

    `␣` is a space, `⏎` a line feed, `⇥` a tab, `U+200D` any other character without a shape of its
    own, `⟨E4 BD⟩` bytes that are not a whole character. Right-to-left text is isolated, so that it
    cannot turn round what stands beside it.
    """
    return _isolated(_marked(raw))


def _marked(raw: bytes) -> str:
    if raw.isascii() and (text := raw.decode("ascii")).isprintable():  # most of any vocabulary
        return text.replace(" ", "␣")
    return "".join(_visible_run(run) for run in _runs(raw))


def _isolated(text: str) -> str:
    if text.isascii():
        return text
    if any(unicodedata.bidirectional(character) in ("R", "AL", "AN") for character in text):
        return f"\u2066{text}\u2069"
    return text


def _runs(raw: bytes) -> list[str | bytes]:
    """The bytes cut into decodable text and the stretches between."""
    runs: list[str | bytes] = []
    rest = raw
    while rest:
        try:
            runs.append(rest.decode("utf-8"))
            break
        except UnicodeDecodeError as error:
            if error.start:
                runs.append(rest[: error.start].decode("utf-8"))
            stray = rest[error.start : error.end]
            if runs and isinstance(runs[-1], bytes):
                runs[-1] += stray
            else:
                runs.append(stray)
            rest = rest[error.end :]
    return runs


_MARKS = {" ": "␣", "\n": "⏎", "\t": "⇥"}


def _visible_run(run: str | bytes) -> str:
    if isinstance(run, bytes):
        return f"⟨{run.hex(' ').upper()}⟩"
    return "".join(_visible_character(character) for character in run)


def _visible_character(character: str) -> str:
    if mark := _MARKS.get(character):
        return mark
    category = unicodedata.category(character)
    if category[0] in "CZ":  # control, format, unassigned, separators: no shape of their own
        return f"U+{ord(character):04X}"
    if category in ("Mn", "Me"):  # a combining mark needs something to stand on
        return f"◌{character}"
    return character


# Streamlit turns these into arrows and dashes after Markdown is parsed, backslashes or not.
_TYPOGRAPHY = re.compile(r"(?<=[-<>=~])(?=[-<>=])")


def markdown_safe(text: str) -> str:
    r"""Text that Markdown prints as it stands.

    Every ASCII punctuation mark gets a backslash, which CommonMark always allows; so `*`, `$`,
    `<`, `:` and `[` lose their second meanings (pills, badges and captions render Markdown). A
    word joiner, which has no width, keeps `->` and `--` from being drawn as an arrow or a dash.
    """
    text = _TYPOGRAPHY.sub("\u2060", text)
    return re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", text)


def encodable(text: str) -> str:
    """The text with ? for each lone surrogate, which no file and no tokenizer can hold."""
    return text.encode("utf-8", "replace").decode()


def readable(raw: bytes) -> str:
    """Bytes as running text: spaces between words stay spaces, those at either end are shown."""
    text = _marked(raw)
    inner = text.strip("␣")
    left, _, right = text.partition(inner) if inner else (text, "", "")
    return _isolated(f"{left}{inner.replace('␣', ' ')}{right}")


def shorten(text: str, width: int = 24) -> str:
    """Text cut in the middle to at most `width` characters, for chart labels."""
    if len(text) <= width:
        return text
    head = (width - 1) * 2 // 3
    return f"{text[:head]}…{text[len(text) - (width - 1 - head) :]}"


def characters(tokens: Sequence[Token]) -> list[list[int]]:
    """Positions grouped so that each group spells whole characters.

    A token that is whole on its own is a group of one; the pieces of one character (an emoji cut
    into eight byte tokens) are one group. Returns lists of positions, in order, covering all.
    """
    groups: list[list[int]] = []
    start = 0
    while start < len(tokens):
        end = _end_of_character(tokens, start)
        group = list(range(start, end))
        if groups and _joined(tokens, groups[-1], group):
            groups[-1] += group
        else:
            groups.append(group)
        start = end
    return groups


def _end_of_character(tokens: Sequence[Token], start: int) -> int:
    """Where the whole characters that begin at `start` end; the next position if none do."""
    raw = b""
    for end in range(start, len(tokens)):
        raw += tokens[end].raw
        try:
            raw.decode("utf-8")
            return end + 1
        except UnicodeDecodeError as error:
            if error.reason != "unexpected end of data":
                break  # whatever follows, these bytes are no character
    return start + 1


_JOINER = "\u200d"
_SKIN_TONES = "\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff"


def _joined(tokens: Sequence[Token], one: list[int], other: list[int]) -> bool:
    """Whether two neighbouring groups are one picture, of which a part was cut into pieces."""
    if len(one) == len(other) == 1:
        return False
    before, after = (b"".join(tokens[at].raw for at in group) for group in (one, other))
    left, right = before.decode("utf-8", "ignore")[-1:], after.decode("utf-8", "ignore")[:1]
    if not left or not right:
        return False
    extends = right in _SKIN_TONES or unicodedata.category(right)[0] == "M"
    return extends or _JOINER in (left, right)
