"""What a name may be, and that only config.json is read of a repository."""

import json

import pytest

from tests.hub.conftest import hub  # noqa: F401
from tiedviz.compute.counts.configs import config_of
from tiedviz.words.catalogue import CatalogueRow
from tiedviz.words.refusals.count import CountRefusal
from tiedviz.words.refusals.file import BrokenJson, FileRefusal
from tiedviz.words.refusals.hub import HubRefusal
from tiedviz.words.refusals.opening import OpeningRefusal


@pytest.fixture
def folder(tmp_path, llama):
    place = tmp_path / "model"
    place.mkdir()
    (place / "config.json").write_text(json.dumps(llama()))
    return place


def test_a_folder_its_config_and_a_config_of_another_name(folder, llama):
    other = folder / "other.json"
    other.write_text(json.dumps(llama(vocab_size=60)))
    assert config_of(str(folder)) == config_of(str(folder / "config.json")) == llama()
    assert config_of(f"  {other} ")["vocab_size"] == 60


def test_known_names_are_answered_from_the_catalogue():
    for name, found in {
        "openai-community/gpt2": "openai-community/gpt2",
        "gpt2": "openai-community/gpt2",
        "smollm2": "HuggingFaceTB/SmolLM2-135M",
        "gemma-3-270m": "google/gemma-3-270m",
    }.items():
        row = config_of(name)
        assert isinstance(row, CatalogueRow) and row.repo_id == found


def test_of_a_repository_only_config_json_is_read(hub, folder, llama):  # noqa: F811
    (folder / "model.safetensors").write_bytes(b"\0" * 1_000_000)
    hub.repositories["org/model"] = folder
    assert config_of("org/model") == llama()
    files = {path for method, path in hub.requests if "/resolve/" in path}
    assert {path.rpartition("/")[2] for path in files} == {"config.json"}
    assert hub.sent < 10_000


def test_a_pickled_repository_is_counted_as_well(hub, folder, llama):  # noqa: F811
    (folder / "pytorch_model.bin").write_bytes(b"x")
    hub.repositories["org/pickled"] = folder
    assert config_of("org/pickled") == llama()


def test_what_the_hub_refuses(hub, tmp_path):  # noqa: F811
    (tmp_path / "empty").mkdir()
    hub.repositories["org/empty"] = tmp_path / "empty"
    for name, (kind, said) in {
        "org/missing": (HubRefusal, "The Hub has no model"),
        "org/gated": (HubRefusal, "nobody is logged in"),
        "org/empty": (CountRefusal, "holds no config.json"),
    }.items():
        with pytest.raises(kind, match=said):
            config_of(name)


def test_what_is_no_configuration(tmp_path, llama):
    gguf = tmp_path / "m.gguf"
    gguf.write_bytes(b"GGUF")
    broken = tmp_path / "broken.json"
    broken.write_text('{"vocab_size": 5,')
    large = tmp_path / "large.json"
    large.write_text(json.dumps(llama(num_hidden_layers=10**6)))
    (tmp_path / "empty").mkdir()
    for path, (kind, said) in {
        gguf: (CountRefusal, "a .gguf file carries no config.json"),
        broken: (BrokenJson, None),
        large: (CountRefusal, "its num_hidden_layers is"),
        tmp_path / "empty": (FileRefusal, "is not a model folder"),
        tmp_path / "nowhere" / "x.json": (OpeningRefusal, "Nothing lies at"),
    }.items():
        with pytest.raises(kind, match=said):
            config_of(str(path))
