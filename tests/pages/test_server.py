"""A visitor from another machine."""

from tests.pages.conftest import text_of
from tiedviz.ui.frame import server


def test_beyond_this_machine_no_path_is_read_and_none_is_shown(visit, tiny_folder, monkeypatch):
    """The page of a visitor from elsewhere who names a folder of the server."""
    folder = tiny_folder()
    monkeypatch.setattr(server, "reachable_from_elsewhere", lambda: True)
    monkeypatch.setenv("TIEDVIZ_ALLOW_PATHS", "known to monkeypatch, so that it is put back")
    monkeypatch.delenv("TIEDVIZ_ALLOW_PATHS")
    page = visit("next_token", model=str(folder))
    assert not page.exception
    assert "may not be read from here" in text_of(page)
    errors = " ".join(error.value for error in page.error)
    assert str(folder.parent) not in errors
    assert folder.name in errors
