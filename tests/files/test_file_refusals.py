import copy
import pickle

import pytest

from tiedviz.words.refusals import file as file_refusals
from tiedviz.words.refusals.file import FileRefusal, TruncatedFile, listed, printable

FACTS = {
    "NothingThere": ("x\ny",),
    "CannotOpen": ("x\ny", "Permission denied"),
    "NotAModelFolder": ("x\ny", ["a\nb"]),
    "AdapterOnly": ("x\ny", "org\nbase"),
    "NoWeights": ("x\ny", ["config.json"]),
    "WrongFormat": ("x\ny", ["tf_model.h5"]),
    "SeveralModels": ("x\ny", ["a.gguf", "b.gguf"]),
    "EmptyFile": ("x\ny",),
    "TruncatedFile": ("x\ny", 10, 5),
    "DamagedFile": ("x\ny", "its tensors overlap"),
    "HostileHeader": ("x\ny", "JSON nested too deep"),
    "HeaderTooLarge": ("x\ny", 2**60, 10),
    "LfsPointer": ("x\ny", 10),
    "WebPage": ("x\ny",),
    "OtherContent": ("x\ny", "GGUF", "safetensors"),
    "UnreadableGguf": ("x\ny", "version 1"),
    "MissingShard": ("x\ny", ["a\nb"], 3),
    "ShardOutside": ("x\ny", "../a\nb"),
    "PickleRunsCode": ("x\ny", "os.\nsystem"),
    "LegacyPickle": ("x\ny",),
    "BrokenJson": ("x\ny", "wrong\nthing", 3, 4),
}
KINDS = {
    name: kind
    for name, kind in vars(file_refusals).items()
    if isinstance(kind, type) and issubclass(kind, FileRefusal) and kind is not FileRefusal
}


def test_every_refusal_is_in_this_table():
    assert set(FACTS) == set(KINDS)


@pytest.mark.parametrize("name", FACTS)
def test_each_says_what_why_and_what_to_try_in_one_line(name):
    refusal = KINDS[name](*FACTS[name])
    assert refusal.what and refusal.why and refusal.remedy
    assert str(refusal).isprintable()
    assert not refusal.what.endswith(".") and not refusal.why.endswith(".")
    assert refusal.remedy[0].isupper()
    assert "weights_only" not in str(refusal)


def test_no_two_refusals_have_the_same_words():
    words = [KINDS[name](*facts).why for name, facts in FACTS.items()]
    assert len(set(words)) == len(words)


def test_a_refusal_survives_the_way_from_a_child_process():
    refusal = TruncatedFile("x", 10, 5)
    for same in (pickle.loads(pickle.dumps(refusal)), copy.copy(refusal)):
        assert type(same) is TruncatedFile
        assert str(same) == str(refusal)


def test_names_are_shown_with_their_invisible_characters_escaped():
    assert printable("E\x00\n\u202e\ud800é ") == "E\\x00\\n\\u202e\\ud800é "
    assert len(printable("x" * 1000)) == 120


def test_long_lists_are_cut():
    assert listed(["a", "b"]) == "a, b"
    assert listed([str(i) for i in range(1008)]) == "0, 1, 2, 3, 4, 5, 6, 7 and 1,000 more"
