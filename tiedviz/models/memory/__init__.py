"""What opening a model takes, what there is, and which models stay open."""
