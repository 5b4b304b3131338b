"""A verdict in words: sentences, evidence, reports."""
