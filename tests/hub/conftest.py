import pytest

from tests.hub.standin import StandInHub


@pytest.fixture
def hub(monkeypatch, tmp_path):
    """A stand-in Hub without repositories, an empty cache, no token."""
    standin = StandInHub({})
    monkeypatch.setenv("HF_ENDPOINT", standin.base)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    monkeypatch.delenv("HF_HUB_CACHE", raising=False)
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    monkeypatch.delenv("HF_TOKEN", raising=False)
    yield standin
    standin.close()
