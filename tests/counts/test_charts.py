"""Charts as specifications: what is drawn, and that equal names stay apart."""

from io import BytesIO

import pandas as pd
import pytest
from PIL import Image

from tiedviz.charts.embedding_share import TIED_TABLE, parts_chart, share_card, share_chart
from tiedviz.charts.palette import LIVE, OUTPUT, SHARED
from tiedviz.compute.counts.catalogue_frame import share_frame

NO_RING = pd.DataFrame(columns=["title", "parameters", "share"])
RING = pd.DataFrame([("Chosen", 134_515_008, 0.21)], columns=NO_RING.columns)


def layers(frame, lit, ring=NO_RING):
    return share_chart(frame, lit, ring).to_dict()["layer"]


def rows_of(chart, layer):
    return chart["datasets"][layer["data"]["name"]]


def test_every_model_is_a_mark_and_size_runs_on_a_log_axis():
    chart = share_chart(share_frame(), ["Pythia"], NO_RING).to_dict()
    lines, dots, names = chart["layer"]
    assert len({row["repo_id"] for row in rows_of(chart, dots)}) == 233
    assert dots["encoding"]["x"]["scale"]["type"] == "log"
    assert "'B'" in dots["encoding"]["x"]["axis"]["labelExpr"]
    assert len(rows_of(chart, lines)) == 10
    assert [row["family"] for row in rows_of(chart, names)] == ["Pythia"]


def test_tied_and_untied_differ_by_shape_and_colour():
    dots = layers(share_frame(), ["Qwen2.5"])[1]["encoding"]
    shapes, strokes, fills = (
        dict(zip(dots[channel]["scale"]["domain"], dots[channel]["scale"]["range"], strict=True))
        for channel in ("shape", "stroke", "fill")
    )
    tied, untied = "tied: one table", "untied: two tables"
    assert (shapes[tied], strokes[tied], fills[tied]) == ("circle", SHARED, SHARED)
    assert (shapes[untied], strokes[untied], fills[untied]) == ("square", OUTPUT, "transparent")


def test_two_models_of_equal_name_and_place_stay_two():
    frame = share_frame().head(2).assign(name="same", parameters=1_000_000, share=0.5)
    chart = share_chart(frame, [], NO_RING).to_dict()
    assert len(rows_of(chart, chart["layer"][1])) == 2
    fields = [
        part.get("field") for part in chart["layer"][1]["encoding"].values() if "field" in part
    ]
    assert "name" not in fields


def test_the_chosen_model_is_ringed_and_named():
    _, ring, marks, _, name = layers(share_frame(), ["GPT-2"], RING)
    assert marks["encoding"]["shape"]  # above the ring, so that they take the pointer
    assert ring["mark"]["stroke"] == LIVE and not ring["mark"]["filled"]
    assert name["encoding"]["text"]["field"] == "title"
    assert len(layers(share_frame(), ["GPT-2"])) == 3


def test_a_ring_outside_the_models_shown_is_still_inside_the_axis():
    huge = RING.assign(parameters=10**13)
    low, high = layers(share_frame(), [], huge)[0]["encoding"]["x"]["scale"]["domain"]
    assert low < 4e6 and high > 10**13


@pytest.mark.parametrize("relative", [True, False])
def test_stacked_parts_keep_their_order_and_colours(relative):
    pieces = pd.DataFrame(
        [("b", TIED_TABLE, 0, 60, 0.6), ("b", "attention", 3, 40, 0.4), ("a", TIED_TABLE, 0, 9, 1)],
        columns=["model", "part", "order", "numbers", "fraction"],
    )
    chart = parts_chart(pieces, relative).to_dict()["encoding"]
    assert chart["y"]["sort"] == ["b", "a"]
    assert chart["color"]["scale"]["domain"] == [TIED_TABLE, "attention"]
    assert chart["color"]["scale"]["range"][0] == SHARED
    assert chart["x"]["field"] == ("fraction" if relative else "numbers")


def test_the_card_is_a_picture_whose_bar_is_as_long_as_the_share():
    data = share_card("62.6 % of Gemma 3 270M is one table.", "detail", "origin", [0.626])
    image = Image.open(BytesIO(data)).convert("RGB")
    assert image.size == (1200, 630)
    row = [image.getpixel((x, 300)) for x in range(80, 1120)]
    blue = sum(pixel == tuple(bytes.fromhex(SHARED[1:])) for pixel in row)
    assert blue / len(row) == pytest.approx(0.626, abs=0.003)


def test_a_long_headline_stays_on_the_card():
    data = share_card("x" * 150, "d", "o", [0.2, 0.2])
    image = Image.open(BytesIO(data)).convert("RGB")
    assert all(image.getpixel((1199, y)) == (255, 255, 255) for y in range(630))
