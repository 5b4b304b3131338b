"""The two witnesses that need a live model: what it shares in memory, and what its logits prove.

They only look. Nothing here changes a model, and what they return are the plain values of
`files.verdict.witnesses`, so that `files.verdict.decide` needs no torch.
"""
