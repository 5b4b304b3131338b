import pytest

from tiedviz.files.header import StoredTensor
from tiedviz.files.roles import (
    find_copies,
    find_embedding,
    find_head,
    is_parameter,
)

V, D = 50, 16


def tensor(name, shape=(V, D), dtype="F32"):
    return StoredTensor(name, shape, dtype, 0, "f", None)


NORM, BLOCK = tensor("norm.weight", (D,)), tensor("layers.0.mlp.weight", (4 * D, D))


@pytest.mark.parametrize(
    "name",
    [
        "wte.weight",
        "transformer.wte.weight",
        "model.embed_tokens.weight",
        "_orig_mod.model.embed_tokens.weight",
        "model.language_model.embed_tokens.weight",
        "bert.embeddings.word_embeddings.weight",
        "shared.weight",
        "tok_embeddings.weight",
        "token_embd.weight",
        "backbone.embeddings.weight",
        "gpt_neox.embed_in.weight",
        "transformer.w.weight",
        "base_model.model.model.embed_tokens.base_layer.weight",
        "model.embed_tokens.modules_to_save.default.weight",
        "wte",
    ],
)
@pytest.mark.parametrize("vocabulary", [V, None, V + 14])
def test_e_is_found_by_the_end_of_its_name(name, vocabulary):
    table = tensor(name)
    others = [NORM, BLOCK, tensor("wpe.weight", (64, D)), tensor("lm_head.weight")]
    assert find_embedding([*others, table], vocabulary) is table


@pytest.mark.parametrize(
    "name",
    [
        "wpe.weight",
        "model.embed_positions.weight",
        "embeddings.position_embeddings.weight",
        "embeddings.token_type_embeddings.weight",
        "position_embd.weight",
        "token_types.weight",
        "pos.embedding.weight",
        "block.0.relative_attention_bias.weight",
        "embed_tokens_per_layer.weight",
    ],
)
def test_positions_and_segments_are_never_e(name):
    assert find_embedding([tensor(name)], V) is None


def test_an_unknown_name_is_found_by_its_rows():
    odd = tensor("my_model.lookup.table")
    assert find_embedding([BLOCK, odd, tensor("lm_head.weight")], V) is odd
    assert find_embedding([BLOCK, odd], None) is None


def test_the_table_with_the_rows_of_the_vocabulary_wins():
    vision, text = tensor("vision.embeddings.weight", (9, D)), tensor("text.embeddings.weight")
    assert find_embedding([vision, text], V) is text


def test_what_the_encoder_and_decoder_share_comes_before_their_copies():
    copies = [tensor("decoder.embed_tokens.weight"), tensor("encoder.embed_tokens.weight")]
    shared = tensor("shared.weight")
    assert find_embedding([*copies, shared], V) is shared
    assert find_copies([*copies, shared], shared) == tuple(copies)
    assert find_embedding(copies, V) is copies[1]  # what is read, not what is written


def test_tables_inside_blocks_come_last():
    inner, outer = tensor("layers.61.embed_tokens.weight"), tensor("model.embed_tokens.weight")
    assert find_embedding([inner, outer], V) is outer


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("lm_head.weight", (V, D)),
        ("lm_head.weight", (V + 14, D)),  # padded apart
        ("model.lm_head.weight", (V, D)),
        ("embed_out.weight", (V, D)),
        ("output.weight", (V, D)),
        ("output_projection.weight", (V, D)),
        ("proj_out.weight", (V, D)),
        ("vocab_projector.weight", (V, D)),
        ("decoder.weight", (V, D)),
        ("cls.predictions.decoder.weight", (V, D)),
        ("lm_head.decoder.weight", (V, D)),
        ("generator_lm_head.weight", (V, D)),
        ("head.weight", (D, V)),  # stored the other way round
        ("lm_head.qweight", (2, V)),
        ("lm_head.weight_packed", (V, 2)),
        ("lm_head.base_layer.weight", (V, D)),
        ("my_model.odd.scorer", (V, D)),
    ],
)
def test_w_is_found_by_its_name_and_shape(name, shape):
    table, head = tensor("model.embed_tokens.weight"), tensor(name, shape)
    others = [NORM, BLOCK, table, tensor("wpe.weight"), tensor("encoder.embed_tokens.weight")]
    assert find_head([*others, head], table, V) is head


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("score.weight", (2, D)),  # a classifier
        ("decoder.weight", (D, D)),
        ("layers.0.attention.output.weight", (V, V)),
        ("layers.61.shared_head.head.weight", (V, D)),
        ("lm_head.bias", (V,)),
        ("lm_head.weight_scale", (V, 1)),
        ("lm_head.lora_A.default.weight", (8, D)),
        ("encoder.embed_tokens.weight", (V, D)),
        ("wpe.weight", (V, D)),
    ],
)
def test_what_only_looks_like_a_head_is_none(name, shape):
    table = tensor("model.embed_tokens.weight")
    assert find_head([table, tensor(name, shape)], table, V) is None


def test_a_head_alone_is_a_head_and_not_e():
    head = tensor("lm_head.weight")
    assert find_embedding([head], V) is None
    assert find_head([head], None, V) is head


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("h.0.attn.bias", (1, 1, 1024, 1024)),
        ("transformer.h.0.attn.attention.bias", (1, 1, 64, 64)),
        ("gpt_neox.layers.0.attention.bias", (1, 1, 64, 64)),
        ("h.0.attn.masked_bias", ()),
        ("model.layers.0.self_attn.rotary_emb.inv_freq", (32,)),
        ("embeddings.position_ids", (1, 512)),
        ("transformer.h.0.attn.causal_mask", (1, 1, 64, 64)),
        ("final_logits_bias", (1, V)),
        ("model.encoder.embed_positions.weights", (64, D)),
        ("rope_freqs.weight", (32,)),
        ("layers.0.mlp.weight_scale_inv", (2, 2)),
    ],
)
def test_masks_and_position_numbers_are_no_parameters(name, shape):
    assert not is_parameter(tensor(name, shape))


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("h.0.attn.c_attn.bias", (48,)),
        ("layers.0.attention.bias", (D,)),
        ("encoder.layer.0.attention.self.query.bias", (D,)),
        ("wpe.weight", (1024, D)),
        ("logit_scale", ()),
    ],
)
def test_ordinary_biases_and_tables_are(name, shape):
    assert is_parameter(tensor(name, shape))
