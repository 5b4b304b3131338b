"""Several models on one prompt: what they agree on, though they share no tokenizer and no width."""
