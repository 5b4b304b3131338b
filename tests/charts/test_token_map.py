"""The still picture and the spectrum."""

import json
from io import BytesIO

import numpy as np
import pandas as pd
from PIL import Image

from tiedviz.charts.palette import KIND_COLOURS
from tiedviz.charts.token_map import (
    HEIGHT,
    WIDTH,
    on_white,
    raster,
    raster_chart,
    scree,
)
from tiedviz.words.token_kinds import TokenKind

LOW, HIGH = np.array([0.0, 0.0]), np.array([1.0, 1.0])


def pixels(points, kinds, drawn=None):
    drawn = np.ones(len(points), bool) if drawn is None else drawn
    png = raster(np.array(points, np.float32), np.array(kinds), drawn, LOW, HIGH)
    return np.array(Image.open(BytesIO(png)))


def test_each_point_is_a_pixel_of_its_kinds_colour_where_it_belongs():
    image = pixels([[0.25, 0.9], [0.75, 0.1], [2.0, 0.5], [np.nan, 0.5]], [0, 6, 0, 0])
    lit = np.argwhere(image[..., 3] > 0)
    assert len(lit) == 2
    (upper, left), (lower, right) = lit.tolist()
    assert (left, right) == (int(0.25 * WIDTH), int(0.75 * WIDTH)) and upper < HEIGHT / 2 < lower
    colour = "#" + bytes(image[lower, right, :3].tolist()).hex()
    assert colour == KIND_COLOURS[TokenKind.SCRIPT]


def test_more_points_cover_more_and_hidden_ones_nothing():
    many = pixels([[0.5, 0.5]] * 30, [0] * 30)
    one = pixels([[0.5, 0.5]], [0])
    assert many[..., 3].max() == 255 > one[..., 3].max() > 0
    assert pixels([[0.5, 0.5]], [0], np.array([False]))[..., 3].max() == 0
    png = raster(np.full((1, 2), 0.5), np.zeros(1, int), np.ones(1, bool), LOW, HIGH)
    assert Image.open(BytesIO(on_white(png, "Ein Bild, ∅"))).convert("RGB").getpixel((0, 0)) == (
        255,
        255,
        255,
    )


def test_tokens_with_the_same_text_stay_two_marks():
    png = raster(np.full((1, 2), 0.5), np.zeros(1, int), np.ones(1, bool), LOW, HIGH)
    named = pd.DataFrame({"id": [3, 9], "text": ["<a*", "<a*"], "x": [0.1, 0.9], "y": [0.2, 0.8]})
    spec = raster_chart(png, LOW, HIGH, ("PC1 (1 %)", "PC2 (1 %)"), named).to_dict()
    rows = [each for each in spec["datasets"].values() if "first" in each[0]]
    assert [row["id"] for row in rows[0]] == [3, 9]
    assert "description" in spec


def test_the_scree_shows_the_parts_and_lights_two():
    spec = scree(np.array([0.5, 0.3, 0.2]), [1, 3]).to_dict()
    [rows] = spec["datasets"].values()
    assert [row["part"] for row in rows] == [0.5, 0.3, 0.2]
    assert rows[2]["so_far"] == 1.0
    assert "indexof([1, 3]" in json.dumps(spec)
