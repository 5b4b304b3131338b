"""The two witnesses that need a live model: what it shares in memory, and what its logits prove.

They only look. Nothing here changes a model, and what they return are the plain values of
`verdict.witnesses`, so that `verdict.decide` needs no torch.
"""
