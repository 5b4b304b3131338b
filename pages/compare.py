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
models = compare.compared_models()
place = compare.opening_place()
compare.columns(models)
compare.invitation(models, place)
table = compare.dots(models)
found = compare.agreements(models)
compare.run_model_queue(models, place)
found |= compare.shape(models)
with corner:
    compare.share_and_export(models, table, found)
