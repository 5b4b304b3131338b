"""Which stored tensor is E, which is W, and which is no parameter at all?

Names differ from model to model, so a name has to fit together with a shape: E has as many rows as
the vocabulary, W has E's rows or E's width. Names are matched by their end, since what stands
before ("model.", "transformer.", "_orig_mod.") says how the model was wrapped.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tiedviz.files.header import StoredTensor

# Ends of names, without ".weight", the likelier first.
EMBEDDINGS = (
    *("shared", "wte", "embed_tokens", "tok_embeddings", "token_embd", "word_embeddings"),
    *("embed_in", "tokens_embed", "word_embedding", "token_embedding", "token_embeddings"),
    *("tok_embedding", "embeddings", "embedding", "embed", "emb", "w"),
)
# These can be nothing but a head; the others also name layers inside a model.
HEADS = (
    *("lm_head", "embed_out", "output_projection", "vocab_projector", "generator_lm_head"),
    *("lm_head.decoder", "predictions.decoder", "lm_loss", "lm_predictions.lm_head"),
)
POSSIBLE_HEADS = ("output", "proj_out", "decoder", "head", "unembed", "pred_layer.proj", "score")

# What is stored instead of a weight when it is wrapped or packed: the name before it counts.
_WEIGHTS = ("weight", "qweight")  # or it ends in "packed"
_WRAPPED = (".base_layer", ".original_module")
# Words of a name that say that the rows of a table are no tokens.
_NOT_TOKENS = {
    *("pos", "position", "positions", "positional", "wpe", "type", "types", "segment", "segments"),
    *("relative", "rel"),
}
_EMBEDS = ("emb", "wte", "shared", "tok")

# The last two words of a name, for what is stored beside the parameters. Plain names, since one
# expression for all of them takes longer to compile than a header to read.
_MASKS = {
    (of, kind) for of in ("attn", "attention", "self_attention") for kind in ("bias", "causal_mask")
}
_BUFFERS = {
    *("masked_bias", "position_ids", "token_type_ids", "relative_position_ids", "position_index"),
    *("token_type_index", "relative_position_index", "final_logits_bias", "running_mean"),
    *("running_var", "num_batches_tracked", "cos_cached", "sin_cached", "causal_mask", "alibi"),
    *("layer_scalar", "weight_zero_point", "weight_shape", "weight_g_idx", "weight_format", "SCB"),
    *(
        f"{of}{kind}_scale{end}"
        for of in ("weight", "input", "output", "k", "v")
        for kind in ("", "_global")
        for end in ("", "_inv", "_2")
    ),
}


def find_embedding(
    tensors: Iterable[StoredTensor], vocabulary: int | None = None
) -> StoredTensor | None:
    """E, the table whose rows are tokens; None if no tensor looks like it.

    A known name comes first, with as many rows as `vocabulary` if any has; then any table of so
    many rows whose name is not a head's. Tables of positions or segments are never taken.
    """

    def likely(tensor: StoredTensor) -> tuple[bool, bool, int, bool, bool, int]:
        end = _end(tensor.name, EMBEDDINGS)
        return (
            vocabulary is not None and tensor.shape[0] != vocabulary,
            _is_inside(tensor),
            EMBEDDINGS.index(end) if end else 0,
            "decoder" in tensor.name,  # of two vocabularies, the one that is read
            not _embeds(tensor.name),
            len(tensor.name),
        )

    tables = _tables(t for t in tensors if t.shape[:1] == (vocabulary,) or not _is_inside(t))
    known = [t for t in tables if _end(t.name, EMBEDDINGS)]
    others = [t for t in tables if t.shape[0] == vocabulary and not _is_head(t)]
    return min(known or others, key=likely, default=None)


def find_head(
    tensors: Iterable[StoredTensor],
    embedding: StoredTensor | None,
    vocabulary: int | None = None,
) -> StoredTensor | None:
    """W, the output matrix, where the files hold one of its own; None where they do not.

    A head's name comes first, then a name that may be a head's on a tensor of E's rows, then any
    other tensor of exactly E's shape outside the blocks whose name does not speak of embedding.
    """
    rows = {embedding.shape[0]} if embedding else set()
    rows |= {vocabulary} if vocabulary else set()
    outside = _tables(t for t in tensors if t is not embedding and not _is_inside(t))
    likely = [t for t in outside if _end(t.name, HEADS)]
    likely = likely or [t for t in outside if _is_head(t) and rows & set(t.shape)]
    if likely:
        ends = (*HEADS, *POSSIBLE_HEADS)
        return min(likely, key=lambda t: (ends.index(_end(t.name, ends) or ""), len(t.name)))
    same = (t for t in outside if embedding and t.shape == embedding.shape)
    return next((t for t in same if not _embeds(t.name)), None)


def find_copies(
    tensors: Iterable[StoredTensor], embedding: StoredTensor | None
) -> tuple[StoredTensor, ...]:
    """Other stored tables for tokens of E's shape, such as an encoder's and a decoder's."""
    if embedding is None:
        return ()
    same = [t for t in tensors if t.shape == embedding.shape and t is not embedding]
    return tuple(t for t in _tables(same) if _end(t.name, EMBEDDINGS))


def is_parameter(tensor: StoredTensor) -> bool:
    """False for what is stored beside the parameters: masks, position numbers, frequencies."""
    tail = tuple(tensor.name.rsplit(".", 2)[-2:])
    if tail in _MASKS:
        return len(tensor.shape) != 4 or tensor.shape[:2] != (1, 1)
    return not _is_buffer(tail)


def _is_buffer(words: tuple[str, ...]) -> bool:
    """Whether the last word of a name, or the last two, are those of something computed."""
    if words[-1] in _BUFFERS or words[-1].endswith("inv_freq"):
        return True
    if words == ("embed_positions", "weights"):
        return True
    return words[-1] == "weight" and words[0].startswith(("rope_freqs", "rope_factors_"))


def _end(name: str, ends: Sequence[str]) -> str | None:
    """Which of the ends the name has, as whole words between dots."""
    base = _layer(name)
    return next((end for end in ends if base == end or base.endswith("." + end)), None)


def _embeds(name: str) -> bool:
    """Whether the name speaks of embedding or of tokens."""
    return any(word in name for word in _EMBEDS)


def _layer(name: str) -> str:
    """The name of the layer whose weight this is, without what an adapter wrapped it in."""
    layer, _, last = name.rpartition(".")
    if not layer or not (last in _WEIGHTS or last.endswith("packed")):
        return name
    wrapped, _, adapter = layer.rpartition(".modules_to_save.")
    if wrapped and "." not in adapter:
        return wrapped
    end = next((end for end in _WRAPPED if layer.endswith(end)), "")
    return layer.removesuffix(end)


def _is_head(tensor: StoredTensor) -> bool:
    return bool(_end(tensor.name, (*HEADS, *POSSIBLE_HEADS)))


def _is_inside(tensor: StoredTensor) -> bool:
    """Whether it belongs to one of many blocks, where `w` or `output` can be anything."""
    return any(map(str.isdecimal, tensor.name.split(".")[1:-1]))


def _tables(tensors: Iterable[StoredTensor]) -> list[StoredTensor]:
    flat = (tensor for tensor in tensors if len(tensor.shape) == 2)
    return [tensor for tensor in flat if not _is_of_other_things(tensor.name)]


def _is_of_other_things(name: str) -> bool:
    """Whether the name is of a table of positions, segments and the like."""
    return "per_layer" in name or not _NOT_TOKENS.isdisjoint(name.replace("_", ".").split("."))
