"""Numbers from tensors. Takes plain values, returns frozen dataclasses or data frames."""
