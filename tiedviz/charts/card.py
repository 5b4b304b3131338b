"""One sentence about one model, as a picture to show around."""

from __future__ import annotations

from io import BytesIO

from PIL import Image, ImageDraw, ImageFont

from tiedviz.charts.palette import INPUT, OTHER, OUTPUT, SHARED

_SIZE = (1200, 630)  # what sites that show link previews ask for
_INK, _PAPER = "#1b2233", "#ffffff"
_MARGIN = 80


def share_card(headline: str, detail: str, origin: str, tables: list[float]) -> bytes:
    """A PNG of 1,200 × 630 pixels: headline, a bar of the whole model, detail, origin.

    Args:
        headline: as in "62.6 % of Gemma 3 270M is one table."
        detail: one more line.
        origin: where the numbers come from.
        tables: part of the model in E, and in W where that is another matrix.
    """
    image = Image.new("RGB", _SIZE, _PAPER)
    draw = ImageDraw.Draw(image)
    width = _SIZE[0] - 2 * _MARGIN
    _fitted(draw, (_MARGIN, 110), headline, 62, width, _INK)
    _bar(draw, tables, width)
    _fitted(draw, (_MARGIN, 430), detail, 32, width, _INK)
    _fitted(draw, (_MARGIN, 530), origin, 24, width, OTHER)
    buffer = BytesIO()
    image.save(buffer, "PNG")
    return buffer.getvalue()


def _bar(draw: ImageDraw.ImageDraw, tables: list[float], width: int) -> None:
    """The model as a bar, its tables first."""
    top, bottom = 250, 350
    draw.rectangle((_MARGIN, top, _MARGIN + width, bottom), fill="#d5d9e2")
    colours = [SHARED] if len(tables) == 1 else [INPUT, OUTPUT]
    left = float(_MARGIN)
    for part, colour in zip(tables, colours, strict=True):
        draw.rectangle((left, top, left + part * width, bottom), fill=colour)
        left += part * width


def _fitted(
    draw: ImageDraw.ImageDraw, place: tuple[int, int], text: str, size: int, width: int, ink: str
) -> None:
    """The text in one line, smaller where it would not fit."""
    while size > 12 and draw.textlength(text, ImageFont.load_default(size)) > width:
        size -= 2
    draw.text(place, text, fill=ink, font=ImageFont.load_default(size))
