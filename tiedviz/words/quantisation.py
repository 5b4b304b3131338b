"""Quantised checkpoints: which package reads which method."""

from __future__ import annotations

# method as config.json names it → (import name, name on the package index)
PACKAGES: dict[str, tuple[str, str]] = {
    "bitsandbytes": ("bitsandbytes", "bitsandbytes"),
    "gptq": ("gptqmodel", "gptqmodel"),
    "awq": ("gptqmodel", "gptqmodel"),
    "compressed-tensors": ("compressed_tensors", "compressed-tensors"),
    "aqlm": ("aqlm", "aqlm"),
    "quanto": ("optimum.quanto", "optimum-quanto"),
    "eetq": ("eetq", "eetq"),
    "hqq": ("hqq", "hqq"),
    "higgs": ("flute", "flute-kernel"),
    "fbgemm_fp8": ("fbgemm_gpu", "fbgemm-gpu"),
    "torchao": ("torchao", "torchao"),
    "auto-round": ("auto_round", "auto-round"),
    "vptq": ("vptq", "vptq"),
    "spqr": ("spqr_quant", "spqr-quant"),
    "quark": ("quark", "amd-quark"),
}
