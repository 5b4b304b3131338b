"""`python -m tiedviz audit`, as somebody types it."""

import json

import pytest

from tests.verdict.conftest import Checkpoint, tiny
from tiedviz.commands.line import main

KEYS = {
    *("verdict", "summary", "declared", "stored", "loaded", "measured", "groups"),
    *("parameters", "bytes", "advice"),
}


@pytest.fixture
def whole(tiny_folder, tmp_path):
    """A checkpoint with a tokenizer, in a folder of the test's own."""
    import shutil

    def build(tied=True, name="whole"):
        folder = tmp_path / name
        shutil.copytree(tiny_folder(tied=tied, name=f"{name}{tied}"), folder)
        return Checkpoint(folder)

    return build


@pytest.fixture
def audit(capfdbinary):
    """Run the command here: exit status, the objects printed, the text on standard error."""

    def run(*arguments):
        capfdbinary.readouterr()
        status = main(["audit", *map(str, arguments), "--json"])
        out, err = capfdbinary.readouterr()
        return status, [json.loads(line) for line in out.decode().splitlines()], err.decode()

    return run


def test_all_four_are_heard(audit, whole):
    status, [found], _ = audit(whole().folder)
    assert status == 0 and KEYS <= set(found)
    assert found["verdict"] == "tied" and found["unheard"] == []
    assert found["declared"] == {
        "raw": [{"path": "tie_word_embeddings", "value": True}],
        "class_default": False,
        "effective": True,
        "governed_by": "config.json: tie_word_embeddings",
    }
    assert found["loaded"] == {
        "same_object": True, "same_storage": True, "same_values": True,
        "dtype": "float32", "on_meta": False,
    }  # fmt: skip
    assert found["measured"]["reproduced"] and found["measured"]["formula"] == "h_L @ E.T"
    assert found["groups"] == [["model.embed_tokens.weight", "lm_head.weight"]]
    counts = found["parameters"]
    assert counts["counted_from"] == "loaded" and counts["head"] == 0
    assert counts["saved_by_tying"] == counts["added_by_untying"] == counts["embedding"]
    assert found["bytes"]["float32"] == 4 * counts["total"] == 2 * found["bytes"]["bfloat16"]


@pytest.mark.case(63)
def test_without_loading_two_are_not_heard(audit, whole):  # case 63
    status, [found], _ = audit(whole().folder, "--no-load")
    assert status == 0 and found["verdict"] == "tied"
    assert found["loaded"] is None and found["measured"] is None
    assert found["declared"]["effective"] is None
    assert found["unheard"] == ["loaded", "measured"]
    assert found["parameters"]["counted_from"] == "headers"
    total = found["parameters"]["total"]
    assert found["bytes"] == {"float32": 4 * total, "bfloat16": 2 * total}
    [e] = [found["stored"]["embedding"]]
    assert e["name"] == "model.embed_tokens.weight" and e["dtype"] == "F32"
    assert found["stored"]["head"] is None and found["stored"]["comparison"] is None


@pytest.mark.parametrize("load", [True, False])
@pytest.mark.parametrize(
    ("word", "status", "change"),
    [
        ("twin", 0, lambda saved: saved.add_head(lambda e: e)),
        ("twin", 1, lambda saved: saved.add_head(lambda e: e).flag(False)),
        ("near_twin", 1, lambda saved: saved.add_head(lambda e: e.bfloat16())),
        ("contradiction", 1, lambda saved: saved.add_head(lambda e: e + 1)),
        ("untied", 0, lambda saved: saved.add_head(lambda e: e + 1).flag(False)),
        ("broken", 1, lambda saved: saved.flag(False)),
        ("cannot_tell", 2, lambda saved: saved.flag(None)),
    ],
)
def test_the_exit_status_is_the_verdicts(audit, whole, word, status, change, load):
    saved = whole()
    change(saved)
    options = () if load else ("--no-load",)
    ended, [found], _ = audit(saved.folder, *options)
    assert (found["verdict"], ended) == (word, status)


def test_a_contradiction_says_how_much_differs(audit, whole):
    saved = whole().add_head(lambda e: e * 2)
    _, [found], _ = audit(saved.folder, "--no-load")
    assert set(found["stored"]["comparison"]) == {
        *("same_bytes", "differing_elements", "differing_rows"),
        *("max_abs", "relative_error", "min_row_cosine"),
    }
    assert found["stored"]["comparison"]["relative_error"] == pytest.approx(1.0)


def test_a_broken_model_is_not_measured(audit, whole):
    _, [found], _ = audit(whole().flag(False).folder)
    assert found["verdict"] == "broken" and found["measured"] is None
    assert found["loaded"] is None and found["fit"]["missing"] == ["lm_head.weight"]
    assert "tied by hand" in found["causes"][0]


@pytest.mark.case(62)
def test_what_cannot_be_loaded_is_still_judged_by_its_files(audit, whole):  # case 62
    saved = whole().flag({"quant_method": "gptq", "bits": 4}, key="quantization_config")
    status, [found], _ = audit(saved.folder)
    assert (status, found["verdict"], found["loaded"]) == (0, "tied", None)
    assert "gptq" in found["evidence"][2]["text"].lower()


def test_several_models_are_one_object_a_line(audit, whole):
    broken = whole(name="broken").flag(False)
    status, found, err = audit(whole().folder, broken.folder, "/no/such/model", "--no-load")
    assert [entry["verdict"] for entry in found] == ["tied", "broken"]
    assert status == 2 and "/no/such/model" in err and len(err.splitlines()) == 1


def test_a_single_file_is_judged_with_the_config_beside_it(audit, whole):
    status, [found], _ = audit(whole().folder / "model.safetensors", "--no-load")
    assert (status, found["verdict"]) == (0, "tied")


def test_nothing_there_is_one_line_and_status_2(capfd):
    assert main(["audit", "/no/such/model", "--no-load"]) == 2
    out, err = capfd.readouterr()
    assert out == "" and len(err.splitlines()) == 1


def test_a_shelf_model_that_was_never_fetched(capfd, empty_cache):
    assert main(["audit", "smollm2", "--no-load"]) == 2
    assert "tiedviz fetch smollm2" in capfd.readouterr().err


def test_in_words(capfd, whole):
    assert main(["audit", str(whole().folder), "--no-load"]) == 0
    out, _ = capfd.readouterr()
    assert ": TIED. One table does both jobs." in out
    assert "loaded    not heard" in out and "Nothing to do" in out


def test_a_cached_repository_is_read_without_the_network(audit, whole, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    storage = tmp_path / "hub" / "models--some--model"
    (storage / "refs").mkdir(parents=True)
    (storage / "refs" / "main").write_text("abc")
    (storage / "snapshots").mkdir()
    whole().folder.rename(storage / "snapshots" / "abc")
    status, [found], _ = audit("some/model", "--no-load")
    assert (status, found["verdict"], found["model"]) == (0, "tied", "some/model")


@pytest.mark.real
def test_smollm2_with_all_four(audit, smollm2):
    status, [found], _ = audit("smollm2")
    assert (status, found["verdict"]) == (0, "tied")
    assert found["parameters"]["total"] == 134_515_008
    assert found["parameters"]["saved_by_tying"] == 28_311_552
    assert found["stored"]["format"] == "gguf" and found["measured"]["reproduced"]


def test_tiny_is_what_the_cases_call_t():
    assert sum(p.numel() for p in tiny(True).parameters()) == 6000
