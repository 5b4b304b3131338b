import copy
import pickle

import pytest

from tiedviz.words.refusals.file import BrokenJson, FileRefusal, listed, printable

FACTS = {
    "nothing_there": ("x\ny",),
    "cannot_open": ("x\ny", "Permission denied"),
    "not_a_model_folder": ("x\ny", ["a\nb"]),
    "adapter_only": ("x\ny", "org\nbase"),
    "no_weights": ("x\ny", ["config.json"]),
    "wrong_format": ("x\ny", ["tf_model.h5"]),
    "several_models": ("x\ny", ["a.gguf", "b.gguf"]),
    "empty": ("x\ny",),
    "truncated": ("x\ny", 10, 5),
    "damaged": ("x\ny", "its tensors overlap"),
    "hostile": ("x\ny", "JSON nested too deep"),
    "too_large": ("x\ny", 2**60, 10),
    "lfs_pointer": ("x\ny", 10),
    "web_page": ("x\ny",),
    "other_content": ("x\ny", "GGUF", "safetensors"),
    "unreadable_gguf": ("x\ny", "version 1"),
    "missing_shard": ("x\ny", ["a\nb"], 3),
    "shard_outside": ("x\ny", "../a\nb"),
    "pickle_runs_code": ("x\ny", "os.\nsystem"),
    "legacy_pickle": ("x\ny",),
    "BrokenJson": ("x\ny", "wrong\nthing", 3, 4),
}
MAKERS = {name: getattr(FileRefusal, name) for name in FACTS if name != "BrokenJson"}
MAKERS["BrokenJson"] = BrokenJson


def test_every_refusal_is_in_this_table():
    named = {name for name, each in vars(FileRefusal).items() if isinstance(each, classmethod)}
    assert set(FACTS) == {*named, *(kind.__name__ for kind in FileRefusal.__subclasses__())}


@pytest.mark.parametrize("name", FACTS)
def test_each_says_what_why_and_what_to_try_in_one_line(name):
    refusal = MAKERS[name](*FACTS[name])
    assert refusal.what and refusal.why and refusal.remedy
    assert str(refusal).isprintable()
    assert not refusal.what.endswith(".") and not refusal.why.endswith(".")
    assert refusal.remedy[0].isupper()
    assert "weights_only" not in str(refusal)


def test_no_two_refusals_have_the_same_words():
    words = [MAKERS[name](*facts).why for name, facts in FACTS.items()]
    assert len(set(words)) == len(words)


def test_a_refusal_survives_the_way_from_a_child_process():
    refusal = FileRefusal.truncated("x", 10, 5)
    for same in (pickle.loads(pickle.dumps(refusal)), copy.copy(refusal)):
        assert type(same) is FileRefusal
        assert str(same) == str(refusal)


def test_names_are_shown_with_their_invisible_characters_escaped():
    assert printable("E\x00\n\u202e\ud800é ") == "E\\x00\\n\\u202e\\ud800é "
    assert len(printable("x" * 1000)) == 120


def test_long_lists_are_cut():
    assert listed(["a", "b"]) == "a, b"
    assert listed([str(i) for i in range(1008)]) == "0, 1, 2, 3, 4, 5, 6, 7 and 1,000 more"
