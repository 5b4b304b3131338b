"""The two sides of the gradient: against autograd, against the formula, and nothing left behind."""

import math
import threading

import pytest
import torch
from torch.nn import functional

from tests.tiny_models import build, names
from tiedviz.compute.forward import forward
from tiedviz.compute.gradient_passes import TwoSides, two_sides
from tiedviz.compute.gradient_task import sentence_of, sides_of
from tiedviz.compute.gradients import _proof, gradient_split
from tiedviz.models.loading import load
from tiedviz.words.refusals.gradient import GradientRefusal

TEXT = "w41 w7 w90 w7 w66 w13 w13"
HEADLESS = {"deberta-v2:own-head"}  # multiplies by the input table itself


def plain_autograd(loaded, sentence):
    """dL/dE and dL/dW of a copy whose parameters learn, as anybody would compute them."""
    copy = build(loaded.title).model  # the same random numbers again
    copy.requires_grad_(True)
    options = {"input_ids": torch.tensor([sentence.ids])}
    if sentence.decoder_ids:
        options["decoder_input_ids"] = torch.tensor([sentence.decoder_ids])
    loss = functional.cross_entropy(
        copy(**options, use_cache=False).logits[0]
        if loaded.kind != "masked"
        else copy(**options).logits[0],
        torch.tensor(sentence.targets),
    )
    loss.backward()
    return (
        float(loss.detach()),
        copy.get_input_embeddings().weight.grad,
        (copy.get_output_embeddings().weight.grad),
    )


KINDS = [
    "gpt2", "llama", "gemma3_text", "gemma2", "opt:350m", "granite", "cohere", "mamba",
    "bert", "albert", "roberta", "t5", "bart", "marian",
]  # fmt: skip


@pytest.mark.parametrize("name", KINDS)
def test_the_sides_add_up_to_the_gradient_of_a_model_that_learns(architecture, name):
    loaded = architecture(name)
    sentence = sentence_of(loaded, TEXT)
    loss, of_e, of_w = plain_autograd(loaded, sentence)
    with loaded.lock:
        parts = two_sides(loaded.model, sides_of(loaded), sentence, name)
    split = gradient_split(loaded, sentence)
    assert split.tied == loaded.tied
    assert split.loss == pytest.approx(loss, rel=1e-5)
    assert split.agrees and split.tolerance < 1e-5
    mine = torch.zeros_like(of_e).index_add_(0, parts.rows, parts.values)
    if loaded.tied:
        mine += parts.output
        assert split.sum_norm == pytest.approx(float(of_e.norm()), rel=1e-5)
        flat = torch.zeros_like(of_e).index_add_(0, parts.rows, parts.values).flatten()
        cosine = functional.cosine_similarity(flat, parts.output.flatten(), dim=0)
        assert split.cosine == pytest.approx(float(cosine), abs=1e-5)
    else:
        assert torch.allclose(parts.output, of_w, atol=split.tolerance)
        assert split.cosine is None and split.sum_norm is None
        assert bool(split.cosines.isnan().all())
    assert torch.allclose(mine, of_e, atol=split.tolerance)
    assert split.input_norm == pytest.approx(float(parts.values.norm()), rel=1e-5)
    assert split.output_norm == pytest.approx(float(parts.output.norm()), rel=1e-5)


def test_the_formula_by_hand(architecture):
    """Σ (p − y) hᵀ / n on the output side; the input side by finite differences."""
    loaded = architecture("gpt2")
    sentence = sentence_of(loaded, TEXT)
    with loaded.lock:
        parts = two_sides(loaded.model, sides_of(loaded), sentence, "gpt2")
    out = forward(loaded.model, sentence.ids, hidden_states=True)
    h = out.hidden_states[-1][0].double()  # already normed: what enters the matrix
    p = out.logits[0].double().softmax(-1)
    y = functional.one_hot(torch.tensor(sentence.targets), p.shape[1]).double()
    by_hand = (p - y).T @ h / len(sentence.targets)
    assert torch.allclose(parts.output.double(), by_hand, atol=1e-6)
    assert torch.allclose(parts.losses.double(), -(p * y).sum(1).log(), atol=1e-5)

    row, step = 7, 1e-2  # read twice
    direction = torch.randn(h.shape[1], generator=torch.Generator().manual_seed(3))
    losses = []
    for sign in (1, -1):
        table = loaded.embedding.detach().clone()
        table[row] += sign * step * direction
        moved = torch.func.functional_call(
            loaded.model,
            {"transformer.wte.weight": table, "lm_head.weight": loaded.embedding},
            (torch.tensor([sentence.ids]),),
            tie_weights=False,
        ).logits[0]
        losses.append(float(functional.cross_entropy(moved, torch.tensor(sentence.targets))))
    slope = (losses[0] - losses[1]) / (2 * step)
    at = parts.rows.tolist().index(row)
    assert float(parts.values[at] @ direction) == pytest.approx(slope, rel=2e-2)


@pytest.mark.parametrize(("name", "bias"), [("gemma2", False), ("bart", True)])
def test_softcap_and_final_bias_by_hand(architecture, name, bias):
    """Through c·tanh(z/c) each logit's derivative gets a factor 1 − (logit/c)²."""
    loaded = architecture(name)
    sentence = sentence_of(loaded, TEXT)
    caught = []
    head = loaded.model.get_output_embeddings()
    hook = head.register_forward_pre_hook(lambda module, args: caught.append(args[0][0].double()))
    logits = forward(loaded.model, sentence.ids, decoder_ids=sentence.decoder_ids).logits[0]
    hook.remove()
    p = logits.double().softmax(-1)
    y = functional.one_hot(torch.tensor(sentence.targets), p.shape[1]).double()
    upstream = (p - y) / len(y)
    if not bias:
        upstream = upstream * (
            1 - (logits.double() / loaded.model.config.final_logit_softcapping) ** 2
        )
    with loaded.lock:
        parts = two_sides(loaded.model, sides_of(loaded), sentence, name)
    assert torch.allclose(parts.output.double(), upstream.T @ caught[0], atol=1e-6)


def test_a_scaled_lookup_carries_its_factor(architecture):
    """Gemma multiplies what it looks up by √d, and so is what comes back."""
    loaded = architecture("gemma3_text")
    sentence = sentence_of(loaded, TEXT)
    with loaded.lock:
        parts = two_sides(loaded.model, sides_of(loaded), sentence, "gemma3_text")
    embedded = []

    def keep(module, args, output):
        embedded.append(output.detach().requires_grad_())
        return embedded[0]

    hook = loaded.model.get_input_embeddings().register_forward_hook(keep)
    with torch.enable_grad():
        logits = loaded.model(torch.tensor([sentence.ids])).logits[0]
        loss = functional.cross_entropy(logits, torch.tensor(sentence.targets))
    hook.remove()
    [after_scale] = torch.autograd.grad(loss, embedded)
    at = [place for place, id in enumerate(sentence.ids) if id == 90]
    scale = loaded.embedding.shape[1] ** 0.5
    mine = parts.values[parts.rows.tolist().index(90)]
    assert torch.allclose(mine, scale * after_scale[0, at].sum(0), atol=1e-5)


def test_rows_read_by_encoder_and_decoder_are_summed(architecture):
    loaded = architecture("t5")
    sentence = sentence_of(loaded, "w41 w7", target="w7 w90 w90")
    split = gradient_split(loaded, sentence)
    start = sentence.decoder_ids[0]
    assert split.read_rows.tolist() == sorted({41, 7, 90, start})
    assert sentence.decoder_ids == (start, 7, 90) and sentence.targets == (7, 90, 90)


def test_rows_touched_are_counted(architecture):
    loaded = architecture("gpt2")
    split = gradient_split(loaded, sentence_of(loaded, TEXT))
    assert split.read_rows.tolist() == [7, 13, 41, 66, 90]
    assert split.input_rows_touched == 5
    assert split.output_rows_touched == 99 == len(split.output_norms)
    assert split.output_share == split.output_norm / (split.input_norm + split.output_norm)


def test_the_row_of_padding_learns_nothing_from_being_read(architecture):
    """nn.Embedding keeps its padding row out of the gradient; kept as rows it must do the same."""
    loaded = architecture("bert")
    padding = loaded.model.get_input_embeddings().padding_idx
    split = gradient_split(loaded, sentence_of(loaded, f"w41 w{padding} w7"))
    assert split.agrees
    assert split.input_rows_touched == 2


def test_the_loaded_model_is_bit_for_bit_as_it_was(architecture):
    for name in ("gpt2", "llama", "t5"):
        loaded = architecture(name)
        before = {key: value.clone() for key, value in loaded.model.state_dict().items()}
        held = dict(loaded.model.named_parameters(remove_duplicate=False))
        answer = forward(loaded.model, [5, 6], decoder_ids=[2]).logits.clone()
        gradient_split(loaded, sentence_of(loaded, TEXT))
        for key, value in loaded.model.state_dict().items():
            assert torch.equal(value, before[key]), key
        for key, parameter in loaded.model.named_parameters(remove_duplicate=False):
            assert parameter is held[key]
            assert not parameter.requires_grad and parameter.grad is None
        assert torch.equal(forward(loaded.model, [5, 6], decoder_ids=[2]).logits, answer)
        assert torch.is_grad_enabled()


def test_a_pass_in_another_thread_waits_and_sees_the_model_as_it_is(architecture):
    loaded = architecture("gpt2")
    sentence = sentence_of(loaded, TEXT)
    alone = forward(loaded.model, [5, 6, 7]).logits.clone()
    first, seen = gradient_split(loaded, sentence), []

    def others():
        for _ in range(20):
            with loaded.lock:
                seen.append(torch.equal(forward(loaded.model, [5, 6, 7]).logits, alone))

    thread = threading.Thread(target=others)
    thread.start()
    splits = [gradient_split(loaded, sentence) for _ in range(10)]
    thread.join()
    assert len(seen) == 20 and all(seen)
    for split in splits:
        assert split.input_norm == pytest.approx(first.input_norm, rel=1e-6)
        assert torch.allclose(split.output_norms, first.output_norms, rtol=1e-6)


def test_whoever_looks_without_the_lock_sees_one_matrix_all_the_time(architecture):
    """A sidebar asks whether E is W while somebody else's gradients are computed."""
    loaded = architecture("gpt2")
    sentence, done, seen = sentence_of(loaded, TEXT), threading.Event(), []
    held = loaded.embedding

    def look():
        while not done.is_set():
            seen.append(loaded.tied and loaded.embedding is held and not held.requires_grad)

    thread = threading.Thread(target=look)
    thread.start()
    for _ in range(10):
        gradient_split(loaded, sentence)
    done.set()
    thread.join()
    assert len(seen) > 100 and all(seen)


def test_a_buffer_made_without_gradients_does_not_stop_it():
    """Autograd cannot keep such a tensor for the way back; Gemma multiplies its lookups by one."""
    loaded = build("gemma3_text")
    table = loaded.model.get_input_embeddings()
    with torch.inference_mode():
        table.embed_scale = table.embed_scale.clone()
    assert "embed_scale" in dict(table.named_buffers()) and table.embed_scale.is_inference()
    assert gradient_split(loaded, sentence_of(loaded, TEXT)).agrees
    assert table.embed_scale.is_inference()


@pytest.mark.parametrize("name", [*names("CausalLM"), *names("MaskedLM"), *names("Seq2SeqLM")])
def test_every_architecture_adds_up_or_says_why_not(architecture, name):
    loaded = architecture(name)
    if name in HEADLESS:
        with pytest.raises(GradientRefusal, match="cannot be split into two sides"):
            gradient_split(loaded, sentence_of(loaded, TEXT))
        return
    split = gradient_split(loaded, sentence_of(loaded, TEXT))
    assert split.agrees and split.tolerance < 1e-5
    assert split.input_norm > 0 and split.output_norm > 0


def test_bfloat16_weights_have_a_bfloat16_gradient():
    from dataclasses import replace

    tiny = build("gpt2")
    tiny.model.to(torch.bfloat16)
    loaded = replace(tiny, dtype="bfloat16", memo={})
    split = gradient_split(loaded, sentence_of(loaded, TEXT))
    assert split.dtype == "bfloat16" and split.agrees


def test_an_opened_model_works_the_same(tied_model):
    split = gradient_split(tied_model, sentence_of(tied_model, "the cat sat on the mat"))
    assert split.tied and split.agrees


def test_a_decoder_table_shared_with_the_head_alone():
    """Marian with two vocabularies: the encoder's table is another one; the decoder's is split."""
    loaded = build("marian", share_encoder_decoder_embeddings=False, decoder_vocab_size=99)
    assert not loaded.tied
    split = gradient_split(loaded, sentence_of(loaded, "w41 w7", target="w9 w8"))
    assert split.tied and split.agrees
    assert set(split.read_rows.tolist()) == {loaded.model.config.decoder_start_token_id, 9}


def test_files_without_a_head_are_refused(tiny_folder):
    from tiedviz.words.refusals.opening import CheckpointRefusal

    folder = tiny_folder(tied=True, name="headless")
    config = folder / "config.json"
    text = config.read_text()
    assert '"tie_word_embeddings": true' in text
    config.write_text(text.replace('"tie_word_embeddings": true', '"tie_word_embeddings": false'))
    with pytest.raises(CheckpointRefusal, match=r"lm_head\.weight"):
        load(str(folder))


@pytest.mark.parametrize("where", [0, 1])
def test_a_gradient_that_is_no_number_is_never_said_to_agree(where):
    """An untied model's two gradients are compared one by one; nan in either is nan."""
    rows, values, output = torch.tensor([1]), torch.ones(1, 2), torch.ones(3, 2)
    whole = torch.zeros(3, 2).index_add(0, rows, values), torch.ones(3, 2)
    whole[where][2, 0] = torch.nan
    found = _proof(TwoSides(rows, values, output, torch.zeros(1)), whole, 1)
    assert math.isnan(found["max_abs_difference"])
