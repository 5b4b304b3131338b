"""Which folders a visitor may name, and what an error tells of the others."""

import json
import os

import pytest
import streamlit as st

from tiedviz.compute.counts.sources import config_of
from tiedviz.compute.witnesses.hearing import hear
from tiedviz.files.allowed import may_read
from tiedviz.models.progress import silent
from tiedviz.models.sources import FolderSource, HubSource, ShelfSource, find_source
from tiedviz.ui.frame import shared_server
from tiedviz.words.refusals.opening import NoSuchPath, PathNotAllowed


@pytest.fixture
def two_folders(tmp_path, monkeypatch):
    """One that may be read and one that may not, each with a config.json."""
    for name in ("open", "shut"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.json").write_text(json.dumps({"model_type": "gpt2"}))
    monkeypatch.setenv("TIEDVIZ_ALLOW_PATHS", f"{tmp_path / 'open'}{os.pathsep}/nowhere")
    return tmp_path / "open", tmp_path / "shut"


def test_every_path_may_be_read_where_nothing_is_said(tmp_path, monkeypatch):
    monkeypatch.delenv("TIEDVIZ_ALLOW_PATHS", raising=False)
    assert may_read(tmp_path)


def test_only_the_named_folders_may_be_opened(two_folders):
    may, may_not = two_folders
    assert isinstance(find_source(str(may)), FolderSource)
    with pytest.raises(PathNotAllowed):
        find_source(str(may_not))


@pytest.mark.parametrize(
    "name", ["shut/no/such", "shut", "open/../shut", "open/../shut/config.json"]
)
def test_what_is_there_is_not_told(two_folders, name):
    """The same words for a path that exists and one that does not."""
    with pytest.raises(PathNotAllowed):
        find_source(f"{two_folders[0].parent}/{name}")


def test_inside_an_allowed_folder_a_missing_path_is_said_to_be_missing(two_folders):
    with pytest.raises(NoSuchPath):
        find_source(str(two_folders[0] / "nothing"))


def test_a_link_leads_no_further_than_its_target(two_folders):
    may, may_not = two_folders
    (may / "link").symlink_to(may_not)
    with pytest.raises(PathNotAllowed):
        find_source(str(may / "link"))


def test_counting_and_the_audit_ask_too(two_folders):
    may, may_not = two_folders
    for wrong in (may_not, may_not / "config.json"):
        with pytest.raises(PathNotAllowed):
            config_of(str(wrong))
        with pytest.raises(PathNotAllowed):
            hear(str(wrong), load=False, report=silent)
    assert config_of(str(may / "config.json")) == {"model_type": "gpt2"}


def test_the_shelf_and_the_hub_need_no_mention(monkeypatch):
    monkeypatch.setenv("TIEDVIZ_ALLOW_PATHS", "")
    assert isinstance(find_source("smollm2"), ShelfSource)
    assert isinstance(find_source("openai-community/gpt2"), HubSource)


def test_a_folder_that_shares_a_hub_ids_name_is_not_read(two_folders, monkeypatch):
    monkeypatch.chdir(two_folders[0].parent)
    assert isinstance(find_source("shut"), HubSource)


@pytest.mark.parametrize(
    ("address", "far"),
    [
        ("127.0.0.1", False),
        ("::1", False),
        ("localhost", False),
        (None, True),
        ("0.0.0.0", True),
        ("::", True),
        ("192.168.1.4", True),
        ("unix:///run/app.sock", True),
        ("example.org", True),
    ],
)
def test_an_address_beyond_this_machine(monkeypatch, address, far):
    monkeypatch.setattr(st, "get_option", {"server.address": address}.get)
    assert shared_server.reachable_from_elsewhere() is far


def test_paths_lose_their_folders_and_addresses_do_not(monkeypatch, tmp_path):
    monkeypatch.setattr(shared_server, "reachable_from_elsewhere", lambda: True)
    monkeypatch.setenv("TIEDVIZ_CACHE", str(tmp_path / "my cache"))
    shown = shared_server.without_paths
    assert shown("cannot write “/srv/models/x.bin”") == "cannot write “…/x.bin”"
    assert shown(f"at {tmp_path}/my cache/hub") == "at …/hub"
    assert shown("ask https://example.org/a/b of a/b/c") == "ask https://example.org/a/b of a/b/c"
    assert shown(r"C:\Users\me\x.gguf") == "…/x.gguf"
