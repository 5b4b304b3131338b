"""From the residual stream to the logits, as this very model does it: measured, never guessed.

Between the output of the last block and the logits stand, depending on the model, a norm, a
transform, a projection, scalars, the matrix, a bias, a softcap. No list of architectures says
which. One forward pass on a fixed probe is traced (`forward_trace`), the way from the last block to
the matrix is read off it and replayed (`path`), what comes after the matrix is measured by feeding
known numbers through it (`after_head`), and the whole is compared here with the model's own logits,
recomputed by a plain product within what rounding explains (`product`). What does not come out
equal is not offered.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import nn
from transformers import PreTrainedModel

from tiedviz.compute.forward import forward, hooked, with_first_tensor
from tiedviz.compute.unembedding.after_head import AfterHead, NotUnderstood, measure_after_head
from tiedviz.compute.unembedding.forward_trace import Call, ForwardTrace, trace_forward
from tiedviz.compute.unembedding.path import ResidualPath, block_calls, find_head_call, find_path
from tiedviz.compute.unembedding.product import limit_for, plain_product
from tiedviz.models.loaded import LoadedModel
from tiedviz.words.refusals.prompt import ModelRefusal

# Six positions: enough to tell a scale from a bias, and one for each level of `after_head`.
_PROBE = 6


@dataclass(frozen=True)
class Unembedding:
    """How this model turns a state into logits.

    Attributes:
        path: from the residual stream to h, or None where it was not reproduced.
        after: from h·Wᵀ to the logits, or None where it was not reproduced.
        shift: hidden_states[k + shift] is r_k: 0, or −1 where the list leaves out r_0.
        max_abs_error: the largest difference from the model's own logits on the probe.
        tolerance: what rounding explains of it.
        reason: why `path` or `after` is None, as a clause; empty where neither is.
    """

    path: ResidualPath | None
    after: AfterHead | None
    shift: int
    max_abs_error: float
    tolerance: float
    reason: str = ""

    @property
    def scores(self) -> bool:
        """Whether h·Wᵀ and what follows give the model's logits."""
        return self.after is not None

    @property
    def reproduced(self) -> bool:
        """Whether the whole way from the residual stream does, so that a lens may be offered."""
        return self.after is not None and self.path is not None

    @property
    def layers(self) -> int:
        """L, the number of block calls."""
        return len(self.path.blocks) if self.path else 0


def unembedding_of(loaded: LoadedModel) -> Unembedding:
    """The model's unembedding, measured at the first call and kept with the model."""
    with loaded.lock:
        if "unembedding" not in loaded.memo:
            loaded.memo["unembedding"] = _measure(loaded)
        return loaded.memo["unembedding"]


def reproduced_unembedding(loaded: LoadedModel) -> tuple[Unembedding, AfterHead]:
    """The same, for a number that is shown: with what follows the matrix, which is proved.

    Raises:
        ModelRefusal: the files held no output matrix, so that the one in memory is random.
        ModelRefusal: this model's logits cannot be recomputed from h and W.
    """
    found = unembedding_of(loaded)
    if found.after is None:
        raise ModelRefusal.not_reproduced(loaded.title, found.reason, found.max_abs_error)
    return found, found.after


def _measure(loaded: LoadedModel) -> Unembedding:
    model, head = loaded.model, loaded.model.get_output_embeddings()
    ids = probe_ids(loaded)
    with torch.inference_mode():
        try:
            trace = _recorded(model, ids)
            call = find_head_call(trace, head)
            after = measure_after_head(model, head, ids)
            error, limit = _compare(call, after, trace.logits, loaded)
        except NotUnderstood as seen:
            return Unembedding(None, None, 0, float("nan"), float("nan"), str(seen))
        if not error <= limit:
            return Unembedding(None, None, 0, error, limit, "h·Wᵀ is not what the head returned")
        try:
            path, shift = _checked_path(trace, loaded, ids, call, after)
        except NotUnderstood as seen:
            return Unembedding(None, after, 0, error, limit, str(seen))
    return Unembedding(path, after, shift, error, limit)


def _recorded(model: PreTrainedModel, ids: list[int]) -> ForwardTrace:
    """One pass over the probe, written down.

    Raises:
        NotUnderstood: the model cannot be run on a bare list of tokens.
    """
    reads = getattr(model, "main_input_name", "input_ids")
    if reads != "input_ids":
        raise NotUnderstood(f"the model reads {reads}, not tokens")
    try:
        return trace_forward(model, ids)
    except Exception as error:  # whatever the library's code for this model cares to raise
        said = " ".join(str(error).split())[:200].rstrip(".")
        raise NotUnderstood(f"a plain forward pass failed ({said})") from error


def probe_ids(loaded: LoadedModel) -> list[int]:
    """Six ids spread over the vocabulary, clear of the special ones at its beginning."""
    rows = min(loaded.vocabulary.size, loaded.embedding.shape[0])
    first = min(5, rows - 1)
    ids = [first + (index * 7919) % (rows - first) for index in range(3 * _PROBE)]
    ordinary = [id for id in ids if id not in loaded.vocabulary.special_ids]
    return (ordinary or ids)[:_PROBE] if len(ordinary) >= _PROBE else ids[:_PROBE]


def _compare(
    call: Call, after: AfterHead, logits: torch.Tensor, loaded: LoadedModel
) -> tuple[float, float]:
    """The largest difference between recomputed and own logits over the probe, and its limit."""
    assert call.taken is not None
    h = call.taken[0]
    recomputed = after(plain_product(h, loaded.scoring_matrix))
    return float((recomputed - logits).abs().max()), limit_for(h, logits, loaded, after.scale.value)


def _checked_path(
    trace: ForwardTrace, loaded: LoadedModel, ids: list[int], call: Call, after: AfterHead
) -> tuple[ResidualPath, int]:
    """The path, after it gave the true h, the true r_k, and an answer it was not read from."""
    blocks = block_calls(trace, loaded.model, call)
    path = find_path(trace, loaded.model, call, blocks)
    assert call.taken is not None and blocks[-1].given is not None
    _require_equal(path(blocks[-1].given[0]), call.taken[0], "the way to the output matrix")
    shift = _shift(trace, blocks)
    _check_by_patching(path, loaded, ids, blocks, after)
    return path, shift


def _require_equal(mine: torch.Tensor, theirs: torch.Tensor, what: str) -> None:
    scale = float(theirs.float().abs().max())
    close = max(1e-5, 4 * torch.finfo(theirs.dtype).eps) * scale
    if (
        mine.shape != theirs.shape
        or not float((mine.float() - theirs.float()).abs().max()) <= close
    ):
        raise NotUnderstood(f"{what} does not come out the same when it is replayed")


def _shift(trace: ForwardTrace, blocks: list[Call]) -> int:
    """At which constant offset the model's own hidden states list r_0 … r_{L−1}."""
    own = trace.hidden_states
    if own is None:
        raise NotUnderstood("the model does not list its hidden states")
    states = [blocks[0].taken, *(block.given for block in blocks)]
    for shift in (0, -1):
        pairs = [(states[k], k + shift) for k in range(len(blocks)) if k + shift >= 0]
        if all(index < len(own) and _same(state, own[index]) for state, index in pairs):
            return shift
    raise NotUnderstood("the model's own hidden states are not what its blocks gave")


def _same(state: torch.Tensor | None, own: torch.Tensor) -> bool:
    if state is None or state.shape != own.shape:
        return False
    scale = float(own.float().abs().max())
    return float((state.float() - own.float()).abs().max()) <= 1e-5 * scale + 1e-7


def _check_by_patching(
    path: ResidualPath, loaded: LoadedModel, ids: list[int], blocks: list[Call], after: AfterHead
) -> None:
    """Put r_k of a middle block in the place of the last block's output, and let the model answer.

    The replay was read off r_L; here it must agree on a state it has not seen.
    """
    middle = blocks[len(blocks) // 2 - 1].given if len(blocks) > 1 else blocks[0].taken
    last = blocks[-1]
    calls_left = sum(block.module is last.module for block in blocks)
    if middle is None or last.given is None or middle.shape != last.given.shape:
        raise NotUnderstood("the blocks' outputs differ in shape")
    patched = middle * 0.5

    def replace(module: nn.Module, args: object, kwargs: object, output: object) -> object:
        nonlocal calls_left
        calls_left -= 1
        return output if calls_left else with_first_tensor(output, patched)

    with hooked((last.module, replace, False)):
        theirs = forward(loaded.model, ids, decoder_ids=ids).logits[0].float().cpu()
    h = path(patched[0])
    mine = after(plain_product(h, loaded.scoring_matrix))
    if not float((mine - theirs).abs().max()) <= limit_for(h, theirs, loaded, after.scale.value):
        raise NotUnderstood("the way to the output matrix depends on more than the last block")
