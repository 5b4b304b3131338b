"""One file holds every colour; what must repeat some of them repeats them as they are."""

import re
import tomllib

import pytest

from tests.conftest import ROOT
from tiedviz.charts import palette
from tiedviz.charts.palette import BUTTONS, INPUT, LIVE, OTHER, OUTPUT, SHARED, faded, rgb

HEX = re.compile(r"#[0-9a-fA-F]{6}\b|\brgba?\(\s*\d+\s*,")
MEANINGS = [SHARED, INPUT, OUTPUT, LIVE, OTHER]
SUFFIXES = {".py", ".js", ".mjs", ".css", ".html", ".toml"}
DARK = "#0e1117"  # Streamlit's own dark page


def test_no_other_file_names_a_colour():
    files = [
        path
        for folder in ("tiedviz", "pages", ".streamlit")
        for path in (ROOT / folder).rglob("*")
        if path.suffix in SUFFIXES
    ]
    assert len(files) > 50
    found = {str(path.relative_to(ROOT)) for path in files if HEX.search(path.read_text("utf-8"))}
    assert found == {"tiedviz/charts/palette.py", ".streamlit/config.toml"}


def test_the_theme_repeats_the_palette():
    """The theme is read before any Python: copy what this says into .streamlit/config.toml."""
    theme = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text())["theme"]
    assert theme["chartCategoricalColors"] == MEANINGS
    assert {name: theme[name]["primaryColor"] for name in BUTTONS} == BUTTONS
    assert len(HEX.findall((ROOT / ".streamlit" / "config.toml").read_text())) == 7


def luminance(colour):
    parts = [each / 255 for each in rgb(colour)]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("colour", MEANINGS)
@pytest.mark.parametrize("page", [palette.PAPER, DARK])
def test_every_meaning_can_be_told_from_the_page(colour, page):
    darker, lighter = sorted([luminance(colour), luminance(page)])
    assert (lighter + 0.05) / (darker + 0.05) >= 3


def test_a_colour_as_numbers_and_faded():
    assert rgb("#0a10ff") == (10, 16, 255)
    assert faded("#0a10ff", 0.5) == "rgba(10,16,255,0.5)"
