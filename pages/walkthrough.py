"""What is weight tying, in ten steps: on a toy, and on the chosen model."""

from tiedviz.ui import walkthrough
from tiedviz.ui.frame import page_head

corner = page_head(
    "Walkthrough",
    "What weight tying is, in ten steps. Each shows it twice: on four words you can check by hand, "
    "and on the model chosen in the sidebar.",
)
step = walkthrough.stepper()
walkthrough.heading(step)
walkthrough.draw(step)
walkthrough.onward(step)
with corner:
    walkthrough.share_and_export(step)
