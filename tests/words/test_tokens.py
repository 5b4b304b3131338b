"""How a token is printed, checked by eye on a few and by rule on any bytes."""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiedviz.words.tokens import (
    Alphabet,
    Token,
    characters,
    markdown_safe,
    piece_bytes,
    readable,
    shorten,
    visible,
)

ASTRONAUT = "👩‍🚀"
HELLO_WORLD = "你好世界"

# How a byte-level vocabulary of English pieces cuts the two: what it never saw stays bytes.
ASTRONAUT_PIECES = [
    b"\xf0\x9f",
    b"\x91",
    b"\xa9",
    b"\xe2\x80",
    b"\x8d",
    b"\xf0\x9f",
    b"\x9a",
    b"\x80",
]
HELLO_WORLD_PIECES = [
    b"\xe4\xbd",
    b"\xa0",
    b"\xe5\xa5",
    b"\xbd",
    b"\xe4\xb8",
    b"\x96",
    b"\xe7\x95",
    b"\x8c",
]


def tokens(pieces: list[bytes]) -> list[Token]:
    return [Token(id, raw.decode("latin-1"), raw) for id, raw in enumerate(pieces)]


@pytest.mark.parametrize(
    ("alphabet", "piece", "raw"),
    [
        (Alphabet.BYTE_LEVEL, "Ġthe", b" the"),
        (Alphabet.BYTE_LEVEL, "Ċ", b"\n"),
        (Alphabet.BYTE_LEVEL, "ä½", b"\xe4\xbd"),
        (Alphabet.BYTE_LEVEL, "世", "世".encode()),  # an added token, spelt out
        (Alphabet.BYTE_FALLBACK, "▁the", b" the"),
        (Alphabet.BYTE_FALLBACK, "<0xE4>", b"\xe4"),
        (Alphabet.BYTE_FALLBACK, "<0xE4>x", b"<0xE4>x"),
        (Alphabet.METASPACE, "▁the", b" the"),
        (Alphabet.METASPACE, "<0xE4>", b"<0xE4>"),
        (Alphabet.WORDPIECE, "##ing", b"ing"),
        (Alphabet.WORDPIECE, "the", b"the"),
        (Alphabet.END_OF_WORD, "the</w>", b"the "),
        (Alphabet.END_OF_WORD, "th", b"th"),
        (Alphabet.PLAIN, "▁##Ġ", "▁##Ġ".encode()),
    ],
)
def test_a_piece_stands_for_these_bytes_in_its_alphabet(alphabet, piece, raw):
    assert piece_bytes(piece, alphabet) == raw


def test_every_byte_has_one_stand_in_of_its_own_in_the_byte_level_alphabet():
    from tokenizers.pre_tokenizers import ByteLevel

    stand_ins = sorted(ByteLevel.alphabet())
    assert sorted(piece_bytes(character, Alphabet.BYTE_LEVEL) for character in stand_ins) == [
        bytes([byte]) for byte in range(256)
    ]


@given(st.binary(max_size=40))
def test_byte_level_pieces_written_by_the_library_come_back_as_the_bytes_they_were(raw):
    from tokenizers.pre_tokenizers import ByteLevel

    text = raw.decode("utf-8", "ignore")
    pieces = ByteLevel(add_prefix_space=False).pre_tokenize_str(text)
    assert b"".join(piece_bytes(piece, Alphabet.BYTE_LEVEL) for piece, _ in pieces) == text.encode()


@pytest.mark.case(81)
@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        (b"the", "the"),
        (b" the", "␣the"),
        (b"a  b", "a␣␣b"),
        (b"\n", "⏎"),
        (b"\t", "⇥"),
        (b"\r\n", "U+000D⏎"),
        (b"a\x00b", "aU+0000b"),
        ("\u200d".encode(), "U+200D"),  # zero width joiner
        ("\ufeff".encode(), "U+FEFF"),  # byte order mark
        ("\u00a0".encode(), "U+00A0"),  # no-break space
        ("\u3000".encode(), "U+3000"),  # ideographic space
        ("\u202e".encode(), "U+202E"),  # right-to-left override
        ("\U000e0041".encode(), "U+E0041"),  # a tag character
        ("\u0301".encode(), "◌\u0301"),  # combining acute
        (b"\xe4\xbd", "⟨E4 BD⟩"),
        (b"a\xe4\xbdb", "a⟨E4 BD⟩b"),
        (b"\xff\xfe\xfd", "⟨FF FE FD⟩"),
        ("é".encode(), "é"),
        ("世".encode(), "世"),
        ("👩".encode(), "👩"),
    ],
)
def test_what_a_screen_would_hide_is_shown(raw, shown):  # case 81
    assert visible(raw) == shown


@pytest.mark.case(81)
@pytest.mark.parametrize("text", ["שלום", "مرحبا", "a ש", "٣"])
def test_right_to_left_text_is_isolated(text):  # case 81
    shown = visible(text.encode())
    assert shown[0] == "\u2066" and shown[-1] == "\u2069"
    assert shown[1:-1] == text.replace(" ", "␣")


def test_left_to_right_text_is_not_isolated():
    assert "\u2066" not in visible("abc 世界".encode())


@given(st.binary(max_size=60))
def test_no_bytes_print_as_a_space_a_control_or_a_replacement_mark(raw):
    shown = visible(raw).strip("\u2066\u2069")
    if "\ufffd".encode() not in raw:
        assert "\ufffd" not in shown
    for character in re.sub(r"⟨[0-9A-F ]+⟩", "", shown):
        assert unicodedata.category(character)[0] not in "CZ", f"U+{ord(character):04X}"


def test_a_lone_byte_is_never_printed_as_a_replacement_mark():
    for byte in range(0x80, 0x100):
        assert Token(0, "?", bytes([byte])).shown == f"⟨{byte:02X}⟩"


@given(st.text(st.characters(categories=["L", "N", "P", "S"]), max_size=30))
def test_letters_digits_and_marks_print_as_they_are(text):
    assert visible(text.encode()).strip("\u2066\u2069") == text


STRAY = st.lists(st.integers(0x80, 0xBF), min_size=1, max_size=4).map(bytes)


@given(STRAY, STRAY)
def test_two_tokens_of_stray_bytes_print_alike_only_if_they_are_alike(one, other):
    assert (visible(one) == visible(other)) == (one == other)


def test_a_row_without_a_token_says_which_row_it_is():
    assert Token(151_700, None, b"").shown == "∅ row 151700"


def test_a_token_of_no_bytes_is_still_seen():
    assert Token(3, "", b"").shown == "∅"


def test_the_bytes_of_a_token_are_printed_in_pairs():
    assert Token(0, "ä½ł", "你".encode()).hex == "E4 BD A0"


def test_a_token_knows_whether_it_is_whole_characters():
    assert Token(0, "x", "你".encode()).whole
    assert not Token(0, "x", b"\xe4\xbd").whole
    assert Token(0, "x", b"\xe4\xbd").text == "\ufffd"


@pytest.mark.case(6)
def test_the_eight_pieces_of_one_emoji_are_one_group():  # case 6
    assert b"".join(ASTRONAUT_PIECES).decode() == ASTRONAUT
    assert characters(tokens(ASTRONAUT_PIECES)) == [[0, 1, 2, 3, 4, 5, 6, 7]]


def test_two_emoji_side_by_side_are_two_groups():
    assert characters(tokens(ASTRONAUT_PIECES[:3] + ASTRONAUT_PIECES[5:])) == [[0, 1, 2], [3, 4, 5]]


def test_a_skin_tone_belongs_to_the_hand_before_it():
    hand, tone = "👋".encode(), "🏽".encode()
    assert characters(tokens([hand[:2], hand[2:], tone[:3], tone[3:]])) == [[0, 1, 2, 3]]


def test_tokens_that_are_whole_stay_apart_even_where_they_make_one_picture():
    pieces = [character.encode() for character in ASTRONAUT]
    assert characters(tokens(pieces)) == [[0], [1], [2]]


@pytest.mark.case(6)
def test_the_pieces_of_four_characters_are_four_groups():  # case 6
    assert b"".join(HELLO_WORLD_PIECES).decode() == HELLO_WORLD
    assert characters(tokens(HELLO_WORLD_PIECES)) == [[0, 1], [2, 3], [4, 5], [6, 7]]


def test_whole_tokens_stand_alone_beside_a_group():
    pieces = [b"a", b"\xe4\xbd", b"\xa0", b" b"]
    assert characters(tokens(pieces)) == [[0], [1, 2], [3]]


def test_bytes_that_never_become_a_character_are_given_back_one_by_one():
    pieces = [b"\xe4\xbd", b"a", b"\xff", b"\xfe", b"b"]
    assert characters(tokens(pieces)) == [[0], [1], [2], [3], [4]]


def test_a_stray_byte_does_not_swallow_the_character_after_it():
    pieces = [b"\xff", b"\xe4\xbd", b"\xa0", b"a"]
    assert [1, 2] in characters(tokens(pieces))


def test_a_character_cut_short_does_not_swallow_the_next_one():
    pieces = [b"\xe4\xbd", b"\xe4\xbd", b"\xa0"]
    assert characters(tokens(pieces)) == [[0], [1, 2]]


@given(st.lists(st.binary(min_size=1, max_size=5), max_size=12))
def test_groups_cover_every_position_once_and_in_order(pieces):
    groups = characters(tokens(pieces))
    assert [position for group in groups for position in group] == list(range(len(pieces)))


@given(st.text(max_size=8), st.randoms(use_true_random=False))
def test_text_cut_anywhere_is_grouped_back_into_whole_characters(text, random):
    raw = text.encode("utf-8", "ignore")
    cuts = sorted({0, len(raw), *(random.randint(0, len(raw)) for _ in range(6))})
    pieces = [raw[a:b] for a, b in pairwise(cuts)]
    for group in characters(tokens(pieces)):
        b"".join(pieces[position] for position in group).decode()


MARKDOWN = "*_`$<>[](){}#+-.!|~:\\&\"'=^/?@;,%"


@pytest.mark.case(81)
def test_every_mark_that_markdown_knows_is_escaped():  # case 81
    assert markdown_safe("*").count("\\") == 1
    for mark in MARKDOWN:
        assert markdown_safe(mark) == f"\\{mark}"


def test_words_and_other_scripts_are_left_alone():
    assert markdown_safe("the 世界 é 42") == "the 世界 é 42"


@given(st.text(st.characters(codec="utf-8"), max_size=30))
def test_taking_the_backslashes_away_gives_the_text_back(text):
    safe = markdown_safe(text)
    unescaped, escaped = "", iter(safe)
    for character in escaped:
        unescaped += next(escaped) if character == "\\" else character
    assert unescaped.replace("\u2060", "") == text.replace("\u2060", "")


@given(st.text(st.characters(codec="utf-8"), max_size=30))
def test_no_mark_of_markdown_stands_without_a_backslash(text):
    characters_left = iter(markdown_safe(text))
    for character in characters_left:
        if character == "\\":
            next(characters_left)
        else:
            assert character not in MARKDOWN


def test_short_text_is_not_cut():
    assert shorten("a" * 24, 24) == "a" * 24


@given(st.text(max_size=200), st.integers(4, 40))
def test_long_text_is_cut_in_the_middle_to_the_width(text, width):
    short = shorten(text, width)
    assert len(short) <= width
    if len(text) > width:
        assert len(short) == width and "…" in short
        assert text.startswith(short[:2]) and text.endswith(short[-1])


@pytest.mark.case(6)
@pytest.mark.real
@pytest.mark.parametrize(("text", "pieces", "groups"), [(ASTRONAUT, 8, 1), (HELLO_WORLD, 9, 4)])
def test_smollm2_shows_the_bytes_of_what_it_never_saw_as_a_word(smollm2, text, pieces, groups):
    """For case 6."""
    from tiedviz.models.prompt import encode

    read = encode(smollm2, text).tokens
    assert len(read) == pieces
    assert b"".join(token.raw for token in read).decode() == text
    assert len(characters(read)) == groups
    assert not any("\ufffd" in token.shown for token in read)


def test_running_text_shows_its_outer_spaces_in_either_direction():
    assert readable(b" a cat ") == "␣a cat␣"
    assert readable(" שלום עולם ".encode()) == "\u2066␣שלום עולם␣\u2069"
    assert readable(b"  ") == "␣␣"
