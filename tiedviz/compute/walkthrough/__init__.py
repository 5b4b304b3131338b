"""What the walkthrough measures on an open model, one module for each question."""
