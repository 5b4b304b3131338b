"""A prompt continued: the library's own `generate`, step by step; draws done by hand."""

import math

import pytest
import torch

from tests.tiny_models import build, names
from tiedviz.compute.continuation import (
    Way,
    choose,
    continued,
    ending_ids,
)
from tiedviz.compute.continuation.stepping import Stepper, cache_is_exact
from tiedviz.compute.forward import forward
from tiedviz.models.prompt import encode
from tiedviz.words.refusals.continuation import ContinuationRefusal

PROMPT = [41, 7, 90, 13, 66]
KINDS = ["llama", "gpt2", "gemma2", "gemma3_text", "bloom", "opt", "mamba", "mamba2", "rwkv",
         "falcon_h1", "cohere", "ctrl", "openai-gpt", "t5", "bart", "marian"]  # fmt: skip


def written(loaded, most=8, **options):
    return list(continued(loaded, PROMPT, most=most, **options))


def generated(loaded, most=8):
    """What the library writes by itself, without the prompt, and nothing forced at the end."""
    ids = torch.tensor([PROMPT])
    loaded.model.generation_config.forced_eos_token_id = None
    out = loaded.model.generate(
        ids, attention_mask=torch.ones_like(ids), do_sample=False, max_new_tokens=most,
        pad_token_id=0, eos_token_id=sorted(ending_ids(loaded)) or None,
    )[0].tolist()  # fmt: skip
    return out[1:] if loaded.kind == "seq2seq" else out[len(PROMPT) :]


@pytest.mark.parametrize("name", KINDS)
def test_greedy_is_what_generate_writes(architecture, name):
    loaded = architecture(name)
    assert [token.id for token in written(loaded)] == generated(loaded)


@pytest.mark.parametrize("name", ["llama", "mamba", "t5"])
def test_each_probability_is_the_models_own_after_what_was_written(architecture, name):
    loaded = architecture(name)
    start = [] if loaded.kind != "seq2seq" else [loaded.model.config.decoder_start_token_id]
    so_far = list(start)
    for token in written(loaded, most=4):
        if start:
            logits = forward(loaded.model, PROMPT, decoder_ids=so_far).logits[0, -1]
        else:
            logits = forward(loaded.model, [*PROMPT, *so_far]).logits[0, -1]
        best = torch.softmax(logits.double(), 0).max()
        assert token.probability == pytest.approx(float(best), rel=1e-4)
        assert token.drawn == token.probability
        assert token.rank == 1
        so_far.append(token.id)


def test_a_cache_is_used_only_where_it_gives_the_same_logits(architecture):
    assert cache_is_exact(architecture("llama"))
    assert cache_is_exact(architecture("gpt2"))
    assert not cache_is_exact(architecture("openai-gpt"))  # it has none


def test_with_a_cache_each_step_reads_one_token(architecture):
    loaded, lengths = architecture("llama"), []
    cache_is_exact(loaded)
    counting = loaded.model.get_input_embeddings().register_forward_pre_hook(
        lambda _, given: lengths.append(given[0].shape[1])
    )
    written(loaded, most=4)
    counting.remove()
    assert lengths == [5, 1, 1, 1]


def test_a_wrong_cache_is_noticed_and_not_used():
    """A model that spoils what it kept: its texts are computed whole, and right."""
    loaded = build("llama")

    def spoil(module, args, kwargs):
        if kwargs.get("cache") is not None:
            for layer in kwargs["cache"].layers:
                layer.values *= 2

    loaded.model.register_forward_pre_hook(spoil, with_kwargs=True)
    assert not cache_is_exact(loaded)
    assert [t.id for t in written(loaded)] == [t.id for t in written(build("llama"))]


def test_a_changed_text_is_computed_again(architecture):
    loaded = architecture("llama")
    stepper = Stepper(loaded)
    stepper.logits(PROMPT)
    other = [1, 2, 3]
    own = forward(loaded.model, other).logits[0, -1]
    assert torch.allclose(stepper.logits(other), own, atol=1e-4)


def test_it_goes_on_after_what_is_written_already(architecture):
    loaded = architecture("llama")
    way = Way(sampled=True, temperature=2.0, seed=5)
    whole = [token.id for token in written(loaded, way=way)]
    rest = [token.id for token in written(loaded, way=way, written=whole[:3])]
    assert whole[3:] == rest


def test_a_seed_is_a_text_and_another_seed_another(architecture):
    loaded = architecture("llama")
    texts = [
        [token.id for token in written(loaded, way=Way(sampled=True, temperature=3.0, seed=seed))]
        for seed in (1, 1, 2)
    ]
    assert texts[0] == texts[1] != texts[2]


def test_draws_by_hand():
    """Probabilities 0.5, 0.3, 0.2 at temperature 1; with T = ½ squared: 25, 9, 4 of 38."""
    logits = torch.tensor([0.3, 0.5, 0.2]).log()
    drawn = [choose(logits, Way(sampled=True), u, frozenset()).id for u in (0.0, 0.49, 0.51, 0.81)]
    assert drawn == [1, 1, 0, 2]
    cold = choose(logits, Way(sampled=True, temperature=0.5), 0.99, frozenset({2}))
    assert (cold.id, cold.rank, cold.ends) == (2, 3, True)
    assert cold.probability == pytest.approx(0.2, abs=1e-7)
    assert cold.drawn == pytest.approx(4 / 38, abs=1e-7)


def test_top_p_keeps_the_fewest_tokens_that_reach_it():
    logits = torch.tensor([0.3, 0.5, 0.2]).log()
    for top_p, last in ((0.4, 1), (0.6, 0), (0.9, 2), (1.0, 2)):
        way = Way(sampled=True, top_p=top_p)
        assert choose(logits, way, 0.999999, frozenset()).id == last
    cut = choose(logits, Way(sampled=True, top_p=0.6), 0.0, frozenset())
    assert cut.drawn == pytest.approx(0.5 / 0.8, abs=1e-6)
    assert cut.probability == pytest.approx(0.5, abs=1e-6)


def test_draws_follow_their_probabilities():
    logits = torch.tensor([0.3, 0.5, 0.2]).log()
    way, draws = Way(sampled=True), torch.linspace(0, 0.9999, 1000).tolist()
    ids = [choose(logits, way, draw, frozenset()).id for draw in draws]
    assert [ids.count(id) for id in (0, 1, 2)] == pytest.approx([300, 500, 200], abs=2)


def test_it_ends_at_the_mark_that_ends_a_text():
    loaded = build("llama")
    first, second, *_ = [token.id for token in written(loaded)]
    assert first != second
    loaded.model.generation_config.eos_token_id = [second]
    ended = written(loaded)
    assert [token.id for token in ended] == [first, second]
    assert ended[-1].ends


def test_it_ends_where_the_model_has_no_more_positions(architecture):
    loaded = architecture("gpt2")
    room = loaded.model.config.n_positions
    long = [7] * (room - 2)
    assert len(list(continued(loaded, long, most=10))) == 3  # after 62, 63 and 64 of 64


def test_masked_models_are_told_why_not(architecture):
    for name in names("MaskedLM")[:2]:
        with pytest.raises(ContinuationRefusal, match="fills gaps"):
            continued(architecture(name), PROMPT)


@pytest.mark.parametrize("wrong", [{"temperature": 0.0}, {"temperature": math.nan}, {"top_p": 0.0},
                                   {"top_p": 1.5}, {"seed": -1}])  # fmt: skip
def test_a_way_that_cannot_be_drawn_is_refused(wrong):
    with pytest.raises(ContinuationRefusal, match=r"cannot be .*it must be"):
        Way(sampled=True, **wrong)


@pytest.mark.parametrize("most", [0, 100_000])
def test_a_length_that_cannot_be_is_refused(architecture, most):
    with pytest.raises(ContinuationRefusal, match=r"cannot be .*it must be"):
        continued(architecture("llama"), PROMPT, most=most)


def test_the_answer_of_a_decoder_goes_on_from_what_is_written(architecture):
    loaded = architecture("t5")
    start = loaded.model.config.decoder_start_token_id
    whole = [token.id for token in written(loaded, most=5)]
    later = [t.id for t in written(loaded, most=3, decoder_ids=[start, *whole[:2]])]
    assert later == whole[2:]


@pytest.mark.real
def test_smollm2_goes_on_as_the_library_does(smollm2):
    prompt = encode(smollm2, "The opposite of hot is")
    mine = list(continued(smollm2, prompt.ids, most=12))
    ids = torch.tensor([prompt.ids])
    theirs = smollm2.model.generate(
        ids, attention_mask=torch.ones_like(ids), do_sample=False, max_new_tokens=12,
        eos_token_id=sorted(ending_ids(smollm2)), pad_token_id=0,
    )[0, len(prompt.ids) :].tolist()  # fmt: skip
    assert [token.id for token in mine] == theirs
    assert cache_is_exact(smollm2)
    assert smollm2.vocabulary.token(mine[0].id).shown == "␣cold"
    assert round(mine[0].probability, 3) == 0.684
