"""What each layer would say."""

from tiedviz.ui import layers
from tiedviz.ui.caches import lens
from tiedviz.ui.frame import page_head
from tiedviz.ui.frame.opened_model import opened_model
from tiedviz.ui.prompt_bar import encoded_prompt, position_chips, prompt_bar

corner = page_head(
    "Layers",
    "Each row asks the same table what the next token would be if the model stopped here.",
)
prompt_bar()

loaded = opened_model("Then this page shows what every layer would say, at every position.")
prompt = encoded_prompt(loaded)
position = position_chips(prompt)
layers.require_lens(loaded)
layer = layers.layer_slider(loaded)
window = layers.window(prompt, position)
watched = layers.watched_tokens(loaded)
found = lens(loaded, prompt, window, watched)

layers.headline(prompt, found)
frame = layers.picture(loaded, prompt, found, layer, position)
layers.proof(loaded, found)
layers.through_the_layers(loaded, found, layer, position)
layers.cell(loaded, prompt, found, layer, position)
with corner:
    layers.share_and_export(loaded, prompt, found, frame, layer, position)
