"""What do other programs make of the same files, where they differ?"""

from __future__ import annotations

from tiedviz.verdict.case import Case
from tiedviz.verdict.wording.words import Word

_OLDER = "transformers 4.54 and later 4.x, llama.cpp's converter and vLLM may drop the stored head"
_LINES: dict[Word, tuple[str, ...]] = {
    "tied": (
        "transformers, llama.cpp and vLLM use the one matrix for both",
        "loaders that insist on a stored head stop, or fill one in at random",
    ),
    "contradiction": (
        "transformers 5 and later keeps both, and warns",
        f"{_OLDER} and use the embedding in its place",
        "`tie_weights()` and `resize_token_embeddings()` tie them again; the stored head is lost",
    ),
    "broken": (
        "transformers fills the head with random numbers, and only lists it as MISSING",
        "llama.cpp and some others use the embedding as the head, whatever the flag says",
    ),
    "adapter": ("a check of pointers says tied, though the two sides no longer act alike",),
}


def other_loaders(case: Case, word: Word) -> tuple[str, ...]:
    """One clause for each kind of loader; empty where all do the same."""
    if case.stored and case.stored.format == "gguf":
        return _of_gguf(word)
    if word == "twin":
        return _of_twin(case)
    if word == "near_twin":
        return _of_near_twin(case)
    if word == "untied" and case.declared and case.declared.forced is True:
        return (
            "transformers 5 sets the flag to true when it reads the file, and keeps both matrices",
            "`resize_token_embeddings()` ties them again and destroys the stored head",
        )
    return _LINES.get(word, ())


def _of_gguf(word: Word) -> tuple[str, ...]:
    if word == "tied":
        return ("llama.cpp reads the output from token_embd; transformers sets the flag to true",)
    if word in ("twin", "near_twin"):
        return ("llama.cpp and transformers use both copies, and hold both in memory",)
    return ()


def _of_twin(case: Case) -> tuple[str, ...]:
    if case.declared_tied is False:
        return ("transformers loads two equal tensors: twice the memory, and they train apart",)
    return (
        "transformers finds them equal and ties them",
        "loaders that do not compare hold the matrix twice",
    )


def _of_near_twin(case: Case) -> tuple[str, ...]:
    if case.declared_tied is not True or not case.comparison or not case.comparison.within:
        return ("transformers loads two matrices",)
    coarse = case.comparison.within
    return (
        "transformers compares them in the dtype it loads: two matrices in float32, "
        f"one where both become {coarse}",
        _OLDER,
    )
