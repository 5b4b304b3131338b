"""How two to four models differ."""

from tiedviz.ui import compare
from tiedviz.ui.frame import page_head
from tiedviz.ui.prompt_bar import prompt_bar

corner = page_head(
    "Compare",
    "Two to four models, one prompt. They need no common tokenizer and no common width: answers "
    "are matched by the text their tokens stand for.",
)
prompt_bar()
seats = compare.seats()
place = compare.opening_place()
compare.columns(seats)
compare.invitation(seats, place)
table = compare.dots(seats)
found = compare.agreements(seats)
compare.run_errands(seats, place)
found |= compare.shape(seats)
with corner:
    compare.share_and_export(seats, table, found)
