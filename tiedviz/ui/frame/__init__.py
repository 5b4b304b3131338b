"""What stands around every page: its head, the sidebar, opening a model, refusals."""
