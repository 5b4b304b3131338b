"""A measured number finds its field in the config, and only a field that means such a thing."""

from __future__ import annotations

import pytest
import torch
from transformers import (
    CohereConfig,
    Gemma2Config,
    GraniteConfig,
    LlamaConfig,
    MiniCPM3Config,
    T5Config,
)

from tests.tiny_models import build
from tiedviz.compute.unembedding.after_head import ONE, name_factor, name_tensor


def test_one_is_no_factor():
    assert name_factor(1.0, LlamaConfig()) is ONE
    assert name_factor(1.000001, LlamaConfig()) is ONE
    assert ONE.is_one


@pytest.mark.parametrize(
    ("measured", "config", "name", "value"),
    [
        (0.0625, CohereConfig(), "logit_scale", 0.0625),
        (0.12500001, GraniteConfig(logits_scaling=8.0), "1/logits_scaling", 0.125),
        (30.0, Gemma2Config(), "final_logit_softcapping", 30.0),
        (512**-0.5, T5Config(d_model=512), "1/√d_model", 512**-0.5),
        (
            0.1,
            MiniCPM3Config(dim_model_base=256, hidden_size=2560),
            "dim_model_base/hidden_size",
            0.1,
        ),
    ],
)
def test_a_factor_takes_the_name_and_the_exact_value_of_its_field(measured, config, name, value):
    found = name_factor(measured, config)
    assert (found.name, found.value) == (name, value)


def test_a_number_of_heads_is_not_the_name_of_a_factor():
    config = LlamaConfig(num_attention_heads=32, num_hidden_layers=20, hidden_size=64)
    for measured in (32.0, 1 / 32, 20.0, 1 / 20, 0.02):
        assert name_factor(measured, config).name == "measured"


def test_of_two_fields_that_are_equal_the_one_that_speaks_of_the_output_is_named():
    config = GraniteConfig(logits_scaling=12.0, embedding_multiplier=12.0)
    assert name_factor(12.0, config).name == "logits_scaling"


def test_a_factor_that_no_field_holds_stays_as_it_was_measured():
    found = name_factor(0.37, LlamaConfig())
    assert (found.name, found.value) == ("measured", 0.37)


def test_in_half_precision_a_number_may_be_a_little_off():
    assert name_factor(0.0626, CohereConfig(), torch.bfloat16).name == "logit_scale"
    assert name_factor(0.0626, CohereConfig()).name == "measured"
    assert name_factor(1.002, LlamaConfig(), torch.bfloat16) is ONE


def test_a_tensor_is_named_whether_it_is_a_parameter_or_a_buffer():
    bart, phi = build("bart").model, build("phi").model
    assert name_tensor(bart, bart.final_logits_bias[0])[0] == "final_logits_bias"
    assert name_tensor(phi, phi.lm_head.bias)[0] == "lm_head.bias"


def test_a_tensor_that_differs_in_one_number_is_not_it():
    phi = build("phi").model
    almost = phi.lm_head.bias.detach().clone()
    almost[5] += 1e-3
    assert name_tensor(phi, almost) is None
