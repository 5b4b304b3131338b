"""Which folders a visitor may name, and what an error tells of the others."""

import json
import os

import pytest
import streamlit as st

from tiedviz.compute.counts.configs import config_of
from tiedviz.files.access import may_read
from tiedviz.models.progress import silent
from tiedviz.models.sources import FolderSource, HubSource, ShelfSource, find_source
from tiedviz.ui.frame import server
from tiedviz.verdict.audit import audit
from tiedviz.words.refusals.opening import OpeningRefusal


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
    with pytest.raises(OpeningRefusal, match="may not be read from here"):
        find_source(str(may_not))


@pytest.mark.parametrize(
    "name", ["shut/no/such", "shut", "open/../shut", "open/../shut/config.json"]
)
def test_what_is_there_is_not_told(two_folders, name):
    """The same words for a path that exists and one that does not."""
    with pytest.raises(OpeningRefusal, match="may not be read from here"):
        find_source(f"{two_folders[0].parent}/{name}")


def test_inside_an_allowed_folder_a_missing_path_is_said_to_be_missing(two_folders):
    with pytest.raises(OpeningRefusal, match="Nothing lies at"):
        find_source(str(two_folders[0] / "nothing"))


def test_a_link_leads_no_further_than_its_target(two_folders):
    may, may_not = two_folders
    (may / "link").symlink_to(may_not)
    with pytest.raises(OpeningRefusal, match="may not be read from here"):
        find_source(str(may / "link"))


def test_counting_and_the_audit_ask_too(two_folders):
    may, may_not = two_folders
    for wrong in (may_not, may_not / "config.json"):
        with pytest.raises(OpeningRefusal, match="may not be read from here"):
            config_of(str(wrong))
        with pytest.raises(OpeningRefusal, match="may not be read from here"):
            audit(str(wrong), load=False, report=silent)
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
    assert server.reachable_from_elsewhere() is far


def test_paths_lose_their_folders_and_addresses_do_not(monkeypatch, tmp_path):
    monkeypatch.setattr(server, "reachable_from_elsewhere", lambda: True)
    monkeypatch.setenv("TIEDVIZ_CACHE", str(tmp_path / "my cache"))
    shown = server.without_paths
    assert shown("cannot write “/srv/models/x.bin”") == "cannot write “…/x.bin”"
    assert shown(f"at {tmp_path}/my cache/hub") == "at …/hub"
    assert shown("ask https://example.org/a/b of a/b/c") == "ask https://example.org/a/b of a/b/c"
    assert shown(r"C:\Users\me\x.gguf") == "…/x.gguf"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("file:///srv/a/x and FILE:/srv/b/y", "file:…/x and FILE:…/y"),
        ("OSError:/srv/models/x", "OSError:…/x"),
        ("open('/opt/my stuff/deep er/x.bin')", "open('…/x.bin')"),
        ("“/opt/my stuff/x”, ~root/y/z", "“…/x”, …/z"),
        (r"\\server\share\x", "…/x"),
        ("[/srv/x/y] (/srv/x/y) a=/srv/x/y", "[…/y] (…/y) a=…/y"),
        ("http://127.0.0.1:9/a https://host:80/a/b a/b/c 1/2", None),
    ],
)
def test_no_way_of_writing_a_path_gets_through(monkeypatch, text, shown):
    monkeypatch.setattr(server, "reachable_from_elsewhere", lambda: True)
    assert server.without_paths(text) == (text if shown is None else shown)


def test_the_folders_named_by_whoever_runs_the_app_are_not_told(monkeypatch):
    monkeypatch.setattr(server, "reachable_from_elsewhere", lambda: True)
    monkeypatch.setenv("TIEDVIZ_ALLOW_PATHS", "/srv/my models")
    assert "my models" not in server.without_paths("at /srv/my models/x")


@pytest.mark.parametrize(
    "name",
    [
        *("~root", "~nobody/x", "~no such user/x", "/etc/passwd\0", "..", "./shut", "../shut"),
        *("file://{}/shut", "FILE:{}/shut", "{}/OPEN", "{}/open-not", "{}/open/../open-not"),
        *("/proc/self/root{}/shut", "/proc/self/cwd/shut", "/dev/zero", "/dev/fd/0", "a/../b"),
        *(
            "..\\shut",
            "\\\\server\\share",
            "C:\\x",
            ".git/x",
            "x.gguf",
            "{}/open/loop",
            "/" + "a" * 300,
        ),
        "/" + "a/" * 3000,
    ],
)
def test_no_way_of_writing_a_name_leads_to_a_folder_that_was_not_named(
    two_folders, monkeypatch, name
):
    may, _ = two_folders
    (may.parent / "open-not").mkdir()
    (may / "loop").symlink_to(may / "loop")
    monkeypatch.chdir(may.parent)
    with pytest.raises(OpeningRefusal, match="may not be read from here") as refusal:
        find_source(name.format(may.parent))
    assert len(str(refusal.value)) < 700


@pytest.mark.parametrize(
    "name",
    [
        *("a/..", "a..b", "-", "--help", "org/.git", "x.git", "a--b/c", "a@../b", "a/b@..", "é/x"),
        *(
            "",
            " ",
            "\0",
            "open\0/..",
            "\u202e/etc",
            "x" * 97,
            f"a/{'x' * 5000}",
            "a/b@" + "x" * 400,
        ),
    ],
)
def test_what_the_hub_would_never_have_is_not_asked_for(two_folders, name):
    """A name of 5,000 characters was an error of the file system, in the middle of a page."""
    with pytest.raises(OpeningRefusal, match="names no model") as refusal:
        find_source(name)
    assert len(str(refusal.value)) < 500


@pytest.mark.parametrize("name", ["~nosuchuser/x", "~nosuchuser/x.json", "/" + "a" * 5000, "\0/x"])
@pytest.mark.parametrize("end", ["", ".json"])
def test_a_name_that_no_system_can_have_is_refused_wherever_it_is_typed(monkeypatch, name, end):
    monkeypatch.delenv("TIEDVIZ_ALLOW_PATHS", raising=False)
    for ask in (find_source, config_of, lambda text: audit(text, load=False, report=silent)):
        with pytest.raises(OpeningRefusal, match=r"names no model|Nothing lies at"):
            ask(name + end)


@pytest.mark.parametrize(
    "name", ["gpt2", "a", "_a/b_", "Qwen/Qwen2.5-0.5B", "a/b@refs/pr/1", "x" * 96]
)
def test_what_the_hub_may_have_is(two_folders, name):
    assert isinstance(find_source(name), HubSource)
