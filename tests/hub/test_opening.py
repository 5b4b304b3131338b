"""Repositories opened through the stand-in, as the app opens them from the real Hub."""

import pytest
import torch

from tiedviz.models.hub import cached_snapshot
from tiedviz.models.hub_client import list_repository, remote_facts
from tiedviz.models.loading import load
from tiedviz.words.refusals.hub import HubRefusal
from tiedviz.words.refusals.opening import OpeningRefusal


def test_a_repository_opens_and_is_the_model_that_was_published(hub, tiny_folder):
    folder = tiny_folder(tied=True, seed=5)
    hub.repositories["org/tiny"] = folder
    seen = []
    opened = load("org/tiny", report=seen.append)
    assert opened.tied
    assert torch.equal(opened.embedding, load(str(folder)).embedding)
    fetched = [stage for stage in seen if stage.name == "Fetching"]
    assert fetched[-1].done == fetched[-1].total > 0


def test_what_is_in_the_cache_is_not_fetched_again_and_serves_without_a_network(
    hub, tiny_folder, monkeypatch
):
    hub.repositories["org/tiny"] = tiny_folder()
    load("org/tiny")
    hub.sent = 0
    load("org/tiny")
    assert hub.sent < 5_000  # the listing alone
    assert cached_snapshot("org/tiny") is not None
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert load("org/tiny").tied
    monkeypatch.delenv("HF_HUB_OFFLINE")
    hub.close()
    assert load("org/tiny").tied


def test_the_token_is_sent(hub, tiny_folder, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    hub.repositories["org/tiny"] = tiny_folder()
    load("org/tiny")
    assert set(hub.tokens) == {"Bearer hf_secret"}


@pytest.mark.case(63)
def test_facts_come_from_headers_alone(hub, tiny_folder):  # case 63
    folder = tiny_folder(tied=False, hidden_size=64, intermediate_size=512)
    hub.repositories["org/wide"] = folder
    facts = remote_facts(list_repository("org/wide"))
    assert (facts.V, facts.d) == (300, 64)
    assert facts.head is not None
    assert facts.parameters == load(str(folder)).parameters
    assert not any(method == "GET" and "resolve" in path and "tokenizer" in path
                   for method, path in hub.requests)  # fmt: skip


def test_shards_are_read_by_their_headers(hub, tiny_folder, tmp_path):
    from transformers import AutoModelForCausalLM

    folder = tiny_folder(hidden_size=64, intermediate_size=512)
    model = AutoModelForCausalLM.from_pretrained(folder)
    sharded = tmp_path / "sharded"
    model.save_pretrained(sharded, max_shard_size="100kB")
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (sharded / name).write_bytes((folder / name).read_bytes())
    hub.repositories["org/sharded"] = sharded
    listing = list_repository("org/sharded")
    assert len(listing.weights) > 3
    assert remote_facts(listing).parameters == load(str(folder)).parameters
    assert load("org/sharded").tied


def test_a_model_that_does_not_fit_is_refused_before_it_is_fetched(hub, tiny_folder, monkeypatch):
    from tiedviz.models import memory

    hub.repositories["org/tiny"] = tiny_folder()
    monkeypatch.setattr(memory, "available_memory", lambda: 1_000)
    with pytest.raises(OpeningRefusal, match="does not fit in memory") as refused:
        load("org/tiny")
    assert "1 kB" in str(refused.value)
    assert cached_snapshot("org/tiny") is None


@pytest.mark.case(64)
def test_a_cut_download_is_said_and_leaves_no_copy_that_looks_whole(hub, tiny_folder):  # case 64
    hub.repositories["org/tiny"] = tiny_folder(hidden_size=64, intermediate_size=2048)
    hub.cut_after = 70_000  # headers come through, the weights never do
    with pytest.raises(HubRefusal) as refused:
        load("org/tiny")
    assert isinstance(refused.value, HubRefusal) and "the connection broke" in str(refused.value), (
        refused.value
    )
    assert cached_snapshot("org/tiny") is None
    hub.cut_after = None
    assert load("org/tiny").tied
