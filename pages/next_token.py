"""How h_L becomes the next token."""

from tiedviz.ui import next_token
from tiedviz.ui.caches import scored_state
from tiedviz.ui.frame import page_head
from tiedviz.ui.frame.opened_model import opened_model
from tiedviz.ui.prompt_bar import encoded_prompt, position_chips, prompt_bar

corner = page_head(
    "Next token",
    "The state after the last block, h_L, meets every row of the matrix in a dot product: "
    "V numbers, one for each token. The largest is the answer.",
)
prompt_bar()

loaded = opened_model("Then this page shows which token comes next, and why, to the last digit.")
prompt = encoded_prompt(loaded)
position = position_chips(prompt)
layer = next_token.chosen_layer(loaded)
state = scored_state(loaded, prompt, position, layer)

next_token.headline(loaded, prompt, state)
next_token.proof(loaded, state)
picked, frame = next_token.candidates(loaded, state)
next_token.logit_as_arithmetic(loaded, state, picked)
written = next_token.go_on(loaded, prompt)
next_token.difference_of_two(loaded, state, picked, frame)
next_token.read_any_vector(loaded, state)
with corner:
    next_token.share_and_export(loaded, prompt, state, frame, picked, written)
