"""Troubles people really have with tying, from files alone; each number is that of its case."""

import numpy
import pytest
import torch

from tests.verdict.conftest import DELETE, marian, randomise, tiny
from tiedviz.verdict.audit import Audit, hear_files


@pytest.mark.case(3)
def test_a_missing_head_is_tied_on_load(checkpoint):  # case 3
    verdict = checkpoint(True).verdict()
    assert verdict.word == "tied" and not verdict.is_wrong
    assert verdict.costs.saved_by_tying == 800
    assert "50×16, stored once, saves 800 parameters = 1.6 kB in bf16" in verdict.summary
    assert verdict.unheard == ("loaded", "measured")


@pytest.mark.case(4)
def test_parameters_are_counted_once_and_shared_out(checkpoint, save):  # case 4
    tied, untied = checkpoint(True).verdict().costs, save(tiny(False), "untied").verdict().costs
    assert (tied.total, tied.embedding, tied.head) == (6000, 800, 0)
    assert (untied.total, untied.embedding, untied.head) == (6800, 800, 800)
    assert round(tied.embedding_share, 3) == 0.133
    assert round(untied.embedding_share, 3) == 0.118
    assert round(untied.share, 3) == 0.235


@pytest.mark.case(21)
def test_an_absent_flag_is_the_class_default(checkpoint):  # case 21
    saved = checkpoint(True).flag(DELETE)
    declared, _ = saved.hear()
    assert declared.raw == () and declared.class_default is False
    assert "absent → false (llama, transformers" in declared.governed_by
    assert saved.verdict().word == "broken"


@pytest.mark.case(24)
def test_a_gguf_file_without_an_output_matrix_is_tied(write_gguf):  # case 24
    path = write_gguf(numpy.ones((50, 32), numpy.float32))
    declared, stored = hear_files(path)
    assert declared.inferred and "inferred" in declared.governed_by
    assert Audit(declared, stored).verdict.word == "tied"


@pytest.mark.case(25)
@pytest.mark.parametrize(
    ("make", "elements", "rows"),
    [
        (lambda e: e + 0.05 * torch.randn(e.shape), 800, 50),
        (lambda e: torch.cat([e[:-3], e[-3:] + 1]), 48, 3),
    ],
)
def test_declared_tied_with_two_matrices_is_a_contradiction(checkpoint, make, elements, rows):
    """For case 25."""
    saved = checkpoint(True).add_head(make)
    verdict, comparison = saved.verdict(), saved.hear()[1].comparison
    assert verdict.word == "contradiction" and verdict.is_wrong
    assert (comparison.differing_elements, comparison.differing_rows) == (elements, rows)
    assert f"({rows} of 50 rows differ)" in verdict.state
    assert "set tie_word_embeddings to false" in verdict.advice
    assert any("vLLM may drop" in line for line in verdict.other_loaders)


@pytest.mark.case(25)
def test_one_element_by_the_last_bit_is_enough(checkpoint):  # case 25
    def nudge(e):
        e[7, 3] = torch.nextafter(e[7, 3], torch.tensor(10.0))
        return e

    saved = checkpoint(True).add_head(nudge)
    comparison = saved.hear()[1].comparison
    assert saved.verdict().word == "contradiction"
    assert (comparison.differing_elements, comparison.differing_rows) == (1, 1)
    assert 0 < comparison.max_abs < 1e-6 and not comparison.same_bytes


@pytest.mark.case(27)
def test_a_head_in_another_dtype_is_a_near_twin(checkpoint):  # case 27
    saved = checkpoint(True).add_head(lambda e: e.bfloat16())
    verdict, comparison = saved.verdict(), saved.hear()[1].comparison
    assert verdict.word == "near_twin" and verdict.is_wrong
    assert verdict.state == "Two copies of one matrix, equal up to rounding to BF16."
    assert comparison.differing_rows == 50 and comparison.far_rows == 0
    assert 0 < comparison.max_abs < 0.01
    assert any("two matrices in float32, one where both become BF16" in line
               for line in verdict.other_loaders)  # fmt: skip


def t5(save):
    from transformers import T5Config, T5ForConditionalGeneration

    from tiedviz.models.building import building

    sizes = {"vocab_size": 50, "d_model": 16, "d_kv": 8, "d_ff": 32, "num_layers": 1}
    with building():
        config = T5Config(**sizes, num_heads=2, feed_forward_proj="gated-gelu")
        model = randomise(T5ForConditionalGeneration(config))
    saved = save(model).flag(False)
    return saved.edit(lambda t: t.update({"lm_head.weight": torch.randn(50, 16)}))


@pytest.mark.case(29)
def test_a_raw_false_counts_where_the_class_forces_true(save):  # case 29
    saved = t5(save)
    declared, _ = saved.hear()
    assert [flag.value for flag in declared.raw] == [False]
    assert declared.tied is False and declared.forced is True
    assert "t5 sets it to true" in declared.governed_by
    assert saved.verdict().word == "untied"


@pytest.mark.case(38)
def test_a_head_lost_with_the_flag_false_is_broken(checkpoint):  # case 38
    verdict = checkpoint(True).flag(False).verdict()
    assert verdict.word == "broken" and verdict.is_wrong
    assert "no output matrix is stored; it would be random" in verdict.state
    assert "set tie_word_embeddings to true" in verdict.advice


@pytest.mark.case(39)
def test_a_head_tied_by_hand_and_saved_is_broken_with_that_cause_first(save):  # case 39
    model = tiny(False)
    model.lm_head.weight = model.model.embed_tokens.weight
    verdict = save(model).verdict()
    assert verdict.word == "broken"
    assert "tied by hand" in verdict.causes[0] and "tied by hand" in verdict.summary


@pytest.mark.parametrize("tie", [True, False])
def test_the_same_bytes_twice_are_a_twin(checkpoint, tie):
    saved = checkpoint(True).add_head(lambda e: e).flag(tie)
    verdict = saved.verdict()
    assert verdict.word == "twin" and verdict.is_wrong is not tie
    assert saved.hear()[1].comparison == (True, 0, 0, 0.0, 0.0, 1.0, "", "", 0)
    if tie:
        assert verdict.advice == "Declared tied: re-save to save 3.2 kB."
        assert (verdict.costs.total, verdict.costs.head) == (6000, 0)
    else:
        assert "drift apart" in verdict.advice
        assert (verdict.costs.total, verdict.costs.head) == (6800, 800)


def test_two_different_matrices_declared_so_are_untied(checkpoint):
    verdict = checkpoint(False).verdict()
    assert verdict.word == "untied" and verdict.state == "Two different matrices, as declared."
    assert not verdict.is_wrong and verdict.costs.saved_by_tying == 0


def test_a_model_without_an_output_has_nothing_to_tie(save):
    saved = save(tiny(True).model)
    assert saved.verdict().word == "no_head"


def test_only_the_head_is_stored_and_declared_tied(checkpoint):
    def only_head(tensors):
        tensors["lm_head.weight"] = tensors.pop("model.embed_tokens.weight")

    verdict = checkpoint(True).edit(only_head).verdict()
    assert verdict.word == "tied" and verdict.costs.saved_by_tying == 800


@pytest.mark.case(47)
def test_lora_on_a_tied_head_is_an_adapter(checkpoint):  # case 47
    def add_lora(tensors):
        tensors["lm_head.lora_A.default.weight"] = torch.randn(4, 16)
        tensors["lm_head.lora_B.default.weight"] = torch.randn(50, 4)

    assert checkpoint(True).edit(add_lora).verdict().word == "adapter"


def test_lora_inside_the_blocks_changes_nothing(checkpoint):
    def add_lora(tensors):
        tensors["model.layers.0.mlp.up_proj.lora_A.default.weight"] = torch.randn(4, 16)

    assert checkpoint(True).edit(add_lora).verdict().word == "tied"


@pytest.mark.case(62)
def test_a_quantised_checkpoint_has_a_verdict_from_its_header(checkpoint):  # case 62
    gptq = {"quant_method": "gptq", "bits": 4}
    saved = checkpoint(True).flag(gptq, key="quantization_config")
    assert saved.verdict().word == "tied"


@pytest.mark.case(62)
def test_a_packed_head_cannot_be_compared(checkpoint):  # case 62
    def pack(tensors):
        tensors["lm_head.qweight"] = torch.zeros((2, 50), dtype=torch.int32)
        tensors["lm_head.scales"] = torch.zeros((1, 50))

    gptq = {"quant_method": "gptq", "bits": 4}
    verdict = checkpoint(True).flag(gptq, key="quantization_config").edit(pack).verdict()
    assert verdict.word == "cannot_tell"
    assert "which only gptq can apply" in verdict.state


def test_weights_without_config_json_cannot_tell(checkpoint):
    saved = checkpoint(True)
    (saved.folder / "config.json").unlink()
    verdict = saved.verdict()
    assert verdict.word == "cannot_tell" and "config.json" in verdict.advice


def test_an_unknown_class_with_one_matrix_cannot_tell(checkpoint):
    saved = checkpoint(True).flag("odd", key="model_type").flag(["OddModel"], key="architectures")
    verdict = saved.verdict()
    assert verdict.word == "cannot_tell" and "OddModel" in verdict.state


@pytest.mark.parametrize("value", [None, "true", 1, [True]])
def test_a_flag_that_is_no_truth_value_cannot_tell(checkpoint, value):
    verdict = checkpoint(True).flag(value).verdict()
    assert verdict.word == "cannot_tell"
    assert "neither true nor false" in verdict.state


def test_two_copies_too_large_to_compare_now_cannot_tell(checkpoint):
    saved = checkpoint(True).add_head(lambda e: e)
    verdict = Audit(*saved.hear(most=1000)).verdict
    assert verdict.word == "cannot_tell"
    assert "comparing the two stored matrices reads 6 kB" in verdict.state


@pytest.mark.case(23)
def test_padded_heads_differ_by_their_extra_rows(checkpoint):  # case 23
    saved = checkpoint(False).add_head(lambda e: torch.cat([e, torch.zeros(14, 16)]))
    comparison = saved.hear()[1].comparison
    assert (comparison.differing_rows, comparison.differing_elements) == (14, 14 * 16)
    verdict = saved.verdict()  # one table was padded without the other: no class loads that
    assert comparison.max_abs == 0.0 and (verdict.word, verdict.is_wrong) == ("broken", True)


def test_encoder_and_decoder_with_tables_of_their_own_are_partly_tied(save):
    verdict = save(marian(True)).verdict()
    assert verdict.word == "partly_tied"
    assert verdict.state == "Decoder and output share a table; the encoder has one of its own."
