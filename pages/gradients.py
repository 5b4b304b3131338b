"""How the table learns twice."""

from tiedviz.ui import gradients
from tiedviz.ui.frame import page_head
from tiedviz.ui.frame.opened_model import opened_model
from tiedviz.ui.prompt_bar import prompt_bar

corner = page_head(
    "Gradients",
    "Input corrects only the rows that were read; output corrects every row.",
)
prompt_bar()

loaded = opened_model("Then this page shows how any sentence would correct E, side by side.")
sentence = gradients.task(loaded)
shown = gradients.run(loaded, sentence)

with gradients.results(shown):
    gradients.headline(shown)
    gradients.two_bars(shown)
    gradients.proof(shown)
    frame = gradients.rows(loaded, shown)
    gradients.positions(loaded, shown)
with corner:
    gradients.share_and_export(loaded, shown, frame)
