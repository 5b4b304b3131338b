"""What is this, and where do I start."""

import streamlit as st

from tiedviz.ui import home
from tiedviz.ui.frame import page_head

corner = page_head("One table, read by rows to enter, by dot product to leave")
st.markdown(
    "A language model turns each token into a row of a matrix **E**. At the other end many models "
    "use the *same* matrix again: the state h_L is multiplied with every row, and the largest "
    "product names the next token. That is **weight tying**. This app opens real models and shows "
    "it on their numbers."
)
home.doors()
home.loop()
toy = home.toy()
with corner:
    home.share_and_export(toy)
