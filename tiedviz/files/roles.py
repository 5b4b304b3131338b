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

# What stands between the name of a layer and the numbers of an adapter on it, in PEFT's kinds.
ADAPTER_MARKS = (
    *("lora_", "modules_to_save", "oft_", "hada_", "lokr_", "ia3_", "vera_", "trainable_tokens_"),
    "token_adapter",
)

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
    if not known and not others:  # no name is known, nor how many rows: one that a head fits
        shapes = {t.shape for t in tables if _end(t.name, HEADS)}
        others = [t for t in tables if t.shape in shapes and _embeds(t.name)]
    return min(known or others, key=likely, default=None)


def find_head(
    tensors: Iterable[StoredTensor],
    embedding: StoredTensor | None,
    vocabulary: int | None = None,
) -> StoredTensor | None:
    """W, the output matrix, where the files hold one of its own; None where they do not.

    A head's name comes first, then a name that may be a head's on a tensor of E's rows, then any
    other tensor of E's width, with E's rows or the vocabulary's, outside the blocks, whose name
    does not speak of embedding; it may lie the other way round. Last comes a head that is kept in
    some other form than one matrix: then it is the largest of its parts (see `head_parts`).
    """
    rows = {embedding.shape[0]} if embedding else set()
    rows |= {vocabulary} if vocabulary else set()
    outside = _tables(t for t in tensors if t is not embedding and not _is_inside(t))
    likely = [t for t in outside if _end(t.name, HEADS)]
    likely = likely or [t for t in outside if _is_head(t) and rows & set(t.shape)]
    if likely:
        ends = (*HEADS, *POSSIBLE_HEADS)
        return min(likely, key=lambda t: (ends.index(_end(t.name, ends) or ""), len(t.name)))
    widths = {embedding.shape[1]} if embedding else set()
    shapes = {shape for r in rows for d in widths for shape in ((r, d), (d, r))}
    same = (t for t in outside if t.shape in shapes and not _embeds(t.name))
    parts = (t for t in tensors if _is_part(t, rows))
    return next(same, None) or max(parts, key=lambda t: t.numbers, default=None)


def head_parts(head: StoredTensor, tensors: Iterable[StoredTensor]) -> tuple[str, ...]:
    """Names of all that is kept for W, where `head` is only a part of it; else empty.

    A head is kept in parts where it is packed in a way of its own (codes and books, a trellis),
    made of factors, or normalised (a length and a direction for each row). What is called a weight
    is whole.
    """
    layer = _head_layer(head.name)
    if not layer or _layer(head.name) != head.name or head.name == layer:
        return ()
    under = (t for t in tensors if t.name.startswith(f"{layer}.") and not _is_adapter(t.name))
    return tuple(t.name for t in under if len(t.shape) > 1 or t.dtype[0] in "IU")


def find_copies(
    tensors: Iterable[StoredTensor], embedding: StoredTensor | None
) -> tuple[StoredTensor, ...]:
    """Other stored tables for tokens of E's shape, such as an encoder's and a decoder's."""
    if embedding is None:
        return ()
    same = [t for t in tensors if t.shape == embedding.shape and t is not embedding]
    return tuple(t for t in _tables(same) if _end(t.name, EMBEDDINGS))


def is_called(name: str, ends: Sequence[str]) -> bool:
    """Whether a name has one of these ends, as whole words between dots."""
    return _end(name, ends) is not None


def is_table(tensor: StoredTensor, ends: Sequence[str]) -> bool:
    """Whether it is a matrix outside the blocks, with one of these ends and none of positions'."""
    return bool(_tables([tensor])) and not _is_inside(tensor) and is_called(tensor.name, ends)


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


def _head_layer(name: str) -> str:
    """What leads to a head and names it (`model.lm_head` of `model.lm_head.codes`); else empty."""
    for head in HEADS:
        at = f".{name}".find(f".{head}.")
        if at >= 0:
            return name[: at + len(head)]
    return ""


def _is_adapter(name: str) -> bool:
    return any(mark in name for mark in ADAPTER_MARKS)


def _is_part(tensor: StoredTensor, rows: set[int]) -> bool:
    """Whether it may be a part of a head: under its name, and more than a number for each row."""
    if not _head_layer(tensor.name) or _is_adapter(tensor.name):
        return False
    has_rows = len(set(tensor.shape)) > 1 and rows & set(tensor.shape)
    is_packed = tensor.dtype[0] in "IU"
    return bool(has_rows or is_packed) and tensor.numbers > max(rows, default=0)


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
    """Whether it belongs to one of many blocks, where `w` or `output` can be anything.

    The layers of a head that has several are outside.
    """
    words = tensor.name.split(".")
    at = next((at for at, word in enumerate(words[1:-1], 1) if word.isdecimal()), None)
    return at is not None and not _end(".".join(words[:at]), HEADS)


def _tables(tensors: Iterable[StoredTensor]) -> list[StoredTensor]:
    flat = (tensor for tensor in tensors if len(tensor.shape) == 2 and tensor.numbers)
    return [tensor for tensor in flat if not _is_of_other_things(tensor.name)]


def _is_of_other_things(name: str) -> bool:
    """Whether the name is of a table of positions, segments and the like."""
    return "per_layer" in name or not _NOT_TOKENS.isdisjoint(name.replace("_", ".").split("."))
