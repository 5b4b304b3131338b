"""What .streamlit/config.toml must keep."""

import tomllib

from tests.conftest import ROOT

CONFIG = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text())


def test_only_this_machine_and_nothing_reported():
    assert CONFIG["server"]["address"] == "127.0.0.1"
    assert CONFIG["browser"]["gatherUsageStats"] is False


def test_no_full_collection_after_every_poll():
    """With it, a poll twice a second kept an opening from ever coming on a busy machine."""
    assert CONFIG["runner"]["postScriptGC"] is False
