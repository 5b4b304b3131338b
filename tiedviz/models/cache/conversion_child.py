"""The process that reads a `.gguf` file and writes what opens quickly. Started by `convert`.

Prints "stage NAME" lines and transformers' own progress bar; on failure one line "failed REASON",
or "full REASON" where the disk has no more room.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tiedviz.models.cache.folder import FULL


def main(file: Path, folder: Path) -> None:
    """Write `folder` from `file`: config.json, model.safetensors, tokenizer files."""
    _stage("read")
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

    model, info = AutoModelForCausalLM.from_pretrained(
        file.parent,
        gguf_file=file.name,
        # without dequantize=True transformers 5.24 keeps a note that save_pretrained refuses
        quantization_config=GgufConfig(dequantize=True),
        dtype=torch.float32,
        trust_remote_code=False,
        output_loading_info=True,
    )
    # what the file lacks, the library fills with random numbers; saved, they would look real
    if missing := sorted(info["missing_keys"]):
        raise ValueError(f"the file lacks {', '.join(missing[:3])} ({len(missing)} in all)")
    _stage("write")
    model.save_pretrained(folder, max_shard_size="1000GB")
    del model
    _stage("tokenizer")
    tokenizer = AutoTokenizer.from_pretrained(
        file.parent, gguf_file=file.name, trust_remote_code=False
    )
    tokenizer.save_pretrained(folder)
    if backend := getattr(tokenizer, "backend_tokenizer", None):
        # without its indentation a vocabulary of 262,144 is 14 MB instead of 33, and opens faster
        backend.save(str(folder / "tokenizer.json"), pretty=False)


def _stage(name: str) -> None:
    sys.stdout.write(f"stage {name}\n")
    sys.stdout.flush()


def _disk_is_full(error: BaseException | None) -> bool:
    """Whether the system said so; the libraries written in Rust pass its number on as text."""
    while error is not None:
        if getattr(error, "errno", None) in FULL:
            return True
        if any(f"(os error {number})" in str(error) for number in FULL):
            return True
        error = error.__cause__ or error.__context__
    return False


if __name__ == "__main__":
    try:
        main(Path(sys.argv[1]), Path(sys.argv[2]))
    except Exception as error:
        reason = " ".join(str(error).split())[:300] or type(error).__name__
        sys.stdout.write(f"\n{'full' if _disk_is_full(error) else 'failed'} {reason}\n")
        sys.exit(1)
