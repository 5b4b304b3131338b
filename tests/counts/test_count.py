"""Small configurations whose counts one can do by hand."""

import dataclasses

import pytest
import torch
from torch import nn

from tiedviz.compute.counts import count_record, counts_in_row, memory
from tiedviz.compute.counts.count import count_config, count_model, count_parts
from tiedviz.models.building import building, intact, unweighted_model
from tiedviz.words.catalogue import find_row
from tiedviz.words.refusals.count import CountRefusal


@pytest.mark.case(4)
def test_case_4_parameters_are_counted_once(llama):
    tied, untied = count_config(llama(True), "tied"), count_config(llama(False), "untied")
    assert (tied.total, untied.total) == (6_000, 6_800)
    assert tied.parts.embedding == untied.parts.embedding == untied.parts.head == 800
    assert tied.parts.head == 0
    assert round(tied.parts.share * 100, 1) == 13.3
    assert round(untied.parts.embedding_share * 100, 1) == 11.8
    assert round(untied.parts.share * 100, 1) == 23.5


def test_each_part_by_hand(llama):
    parts = count_config(llama(), "tied").parts
    assert parts.attention == 2 * 4 * 16 * 16
    assert parts.feed_forward == 2 * 3 * 16 * 32
    assert parts.norms == 5 * 16
    assert (parts.positions, parts.other) == (0, 0)


def test_what_each_other_count_counts(llama):
    tied = count_config(llama(True), "tied")
    untied = count_config(llama(False), "untied")
    assert (tied.listed, tied.used) == (6_800, 6_800)
    assert (untied.listed, untied.used) == (6_800, 6_800)
    assert tied.product_operations == untied.product_operations == 2 * 50 * 16
    assert (tied.if_tied, tied.if_untied) == (6_000, 6_800)
    assert (untied.if_tied, untied.if_untied) == (6_000, 6_800)


def test_a_model_with_weights_gives_the_same_as_its_configuration(llama):
    from transformers import LlamaConfig, LlamaForCausalLM

    with building():
        model = LlamaForCausalLM(LlamaConfig(**llama()))
    assert count_model(model, "live") == count_config(llama(), "meta")


def test_json_that_says_false_where_the_class_ties_all_the_same():
    config = {
        **{"model_type": "t5", "architectures": ["T5ForConditionalGeneration"]},
        **{"vocab_size": 50, "d_model": 16, "d_kv": 8, "d_ff": 32, "num_layers": 2},
        **{"num_heads": 2, "feed_forward_proj": "gated-gelu"},
    }
    built = count_config(config, "t5")
    released = count_config({**config, "tie_word_embeddings": False}, "t5 v1.1")
    assert built.tied and not released.tied
    assert released.total - built.total == 50 * 16 == released.parts.head
    assert released == count_config(config, "t5", checkpoint_untied=True)


def test_a_block_that_is_called_twelve_times_is_stored_once():
    albert = find_row("albert/albert-base-v2")
    parts = albert.parts
    outside = albert.total - parts.attention - parts.feed_forward - parts.norms
    assert albert.total == 11_221_680 and albert.layers == 12
    assert albert.used > 11 * (parts.attention + parts.feed_forward) + outside


@pytest.mark.parametrize(
    ("repo_id", "billions"),
    [
        ("mistralai/Mixtral-8x7B-v0.1", 12.9),
        ("Qwen/Qwen3-30B-A3B", 3.4),
        ("deepseek-ai/DeepSeek-V3", 37.6),
    ],
)
def test_of_experts_only_those_chosen_are_used(repo_id, billions):
    assert round(find_row(repo_id).used / 1e9, 1) == billions


def test_a_base_model_has_a_table_and_no_head():
    config = {
        **{"model_type": "bert", "architectures": ["BertModel"], "vocab_size": 50},
        **{"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2},
        **{"intermediate_size": 32, "max_position_embeddings": 20},
    }
    counts = count_config(config, "base")
    assert counts.head_shape is None and not counts.tied and not counts.can_tie
    assert counts.product_operations == 0
    assert counts.if_tied == counts.if_untied == counts.total
    assert counts.parts.positions == (20 + 2) * 16


def test_the_class_is_found_where_config_json_names_none(llama):
    config = llama()
    del config["architectures"]
    assert count_config(config, "nameless").architecture == "LlamaForCausalLM"


def test_a_quantised_checkpoint_is_counted_as_the_model_it_was_made_from(llama):
    packed = llama(quantization_config={"quant_method": "gptq", "bits": 4}, torch_dtype="float16")
    assert count_config(packed, "gptq") == count_config(llama(), "plain")


def test_nested_configurations_are_counted_by_their_text_part():
    """A vision-language model: its table is the text model's, its layers the text model's."""
    text = {
        **{"model_type": "gemma3_text", "vocab_size": 60, "hidden_size": 16, "head_dim": 8},
        **{"num_hidden_layers": 3, "num_attention_heads": 2, "num_key_value_heads": 1},
        **{"intermediate_size": 32},
    }
    vision = {
        **{"model_type": "siglip_vision_model", "hidden_size": 16, "num_hidden_layers": 1},
        **{"num_attention_heads": 2, "intermediate_size": 32, "image_size": 28, "patch_size": 14},
    }
    counts = count_config(
        {
            **{"model_type": "gemma3", "architectures": ["Gemma3ForConditionalGeneration"]},
            **{"text_config": text, "vision_config": vision, "mm_tokens_per_image": 4},
        },
        "vision",
    )
    assert (counts.V, counts.d, counts.layers, counts.tied) == (60, 16, 3, True)


def test_a_model_of_images_has_no_table_of_tokens():
    config = {"model_type": "vit", "architectures": ["ViTForImageClassification"]}
    small = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    with pytest.raises(CountRefusal, match="no table of tokens: ViTForImageClassification"):
        count_config(config | small | {"intermediate_size": 32}, "vit")


def test_building_holds_no_weights_and_leaves_the_library_as_it_was(llama):
    model = unweighted_model(llama(hidden_size=4096, vocab_size=100_000), "large")
    assert all(parameter.is_meta for parameter in model.parameters())
    assert model.get_output_embeddings().weight is model.get_input_embeddings().weight
    assert intact()
    assert nn.Linear(3, 3).weight.abs().sum() > 0  # weights are initialised again


def test_parts_that_do_not_add_up_are_noticed(monkeypatch):
    model = nn.ModuleDict({"words": nn.Embedding(3, 2)})
    monkeypatch.setattr("tiedviz.compute.counts.count.distinct_parameters", lambda _: iter(()))
    with pytest.raises(AssertionError, match="add up to 0, the model has 6"):
        count_parts(model, model["words"].weight, None)


def test_a_further_table_over_tokens_is_not_taken_for_positions():
    model = nn.ModuleDict({"words": nn.Embedding(5, 2), "more": nn.Embedding(5, 3)})
    model["places"] = nn.Embedding(7, 2)
    parts = count_parts(model, model["words"].weight, None)
    assert (parts["embedding"], parts["other"], parts["positions"]) == (10, 15, 14)


def test_a_parameter_with_two_names_counts_once():
    shared = nn.Linear(2, 2, bias=False)
    model = nn.ModuleDict({"words": nn.Embedding(3, 2), "a": shared, "b": shared})
    parts = count_parts(model, model["words"].weight, None)
    assert sum(parts.values()) == 6 + 4


def test_memory_of_so_many_numbers():
    assert memory(5) == {"float32": 20, "bfloat16": 10, "int8": 5, "4-bit": 3}


def test_a_row_of_the_catalogue_gives_the_same_counts_as_building_it():
    row = find_row("google/flan-t5-small")
    again = count_config(row.config, row.name, kind=row.kind, checkpoint_untied=True)
    assert dataclasses.replace(counts_in_row(row), architecture=again.architecture) == again
    record = count_record(again, "meta")
    assert record["parameters"]["saved_by_tying"] == 0
    assert record["parameters"]["if_tied"] == 60_511_616
    assert torch.get_default_dtype() is torch.float32
