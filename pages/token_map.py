"""Where the rows of E lie, and h_L among them."""

from tiedviz.ui import token_map
from tiedviz.ui.frame import page_head
from tiedviz.ui.frame.opened_model import opened_model
from tiedviz.ui.prompt_bar import encoded_prompt, position_chips, prompt_bar

corner = page_head(
    "Token map",
    "Every row of E as a point, and the states of a prompt among them. Near here does not mean "
    "near: the strip under the map says how many true neighbours survive.",
)
prompt_bar()

loaded = opened_model("Then this page shows every row of E, and who is near whom.")
prompt = encoded_prompt(loaded)
position = position_chips(prompt)
drawn = token_map.drawn_map(loaded)
path = token_map.states_of(loaded, prompt, position)
ask = token_map.asked(loaded, drawn.named, token_map.answer_of(loaded, prompt, position))

token_map.picture(loaded, drawn, ask, path)
recall = token_map.metrics(loaded, drawn)
token_map.left_out(loaded, drawn)
token_map.tabs(loaded, prompt, position, drawn, ask, path)
with corner:
    token_map.share_and_export(loaded, prompt, position, drawn, ask)
token_map.fill_recall(recall, loaded, drawn)
