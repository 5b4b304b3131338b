"""Packed weights counted from their headers, as each library writes them."""

import json
import math

import pytest

from tests.files.conftest import BYTES
from tiedviz.files.facts import read_facts
from tiedviz.verdict.audit import Audit, hear_files
from tiedviz.words.catalogue import FILE as CATALOGUE

BYTES.update({"U32": 4, "F8_E4M3": 1, "I8": 1})

LAYER = "model.layers.0.mlp.up_proj"
EMBED = {"model.embed_tokens.weight": ("BF16", (50, 64))}
NORM = {"model.norm.weight": ("BF16", (64,))}
CONFIG = {
    "model_type": "llama", "architectures": ["LlamaForCausalLM"], "vocab_size": 50,
    "hidden_size": 64, "tie_word_embeddings": True,
}  # fmt: skip
PLAIN = 50 * 64 + 64
IN, OUT = 64, 96

GPTQ = {
    f"{LAYER}.qweight": ("I32", (IN // 8, OUT)),
    f"{LAYER}.qzeros": ("I32", (IN // 32, OUT // 8)),
    f"{LAYER}.scales": ("F16", (IN // 32, OUT)),
}
KINDS = {
    "gptq by its order": (GPTQ | {f"{LAYER}.g_idx": ("I32", (IN,))}, {}),
    "gptq by its bits": (GPTQ, {"quant_method": "gptq", "bits": 4}),
    # three numbers hold 32 weights of three bits
    "gptq of three bits": (
        {f"{LAYER}.qweight": ("I32", (IN * 3 // 32, OUT)), f"{LAYER}.scales": ("F16", (2, OUT))},
        {"quant_method": "gptq", "bits": 3},
    ),
    "awq": (
        {
            f"{LAYER}.qweight": ("I32", (IN, OUT // 8)),
            f"{LAYER}.qzeros": ("I32", (2, OUT // 8)),
            f"{LAYER}.scales": ("F16", (2, OUT)),
        },
        {"quant_method": "awq"},
    ),
    "bitsandbytes": (
        {
            f"{LAYER}.weight": ("U8", (IN * OUT // 2, 1)),
            f"{LAYER}.weight.absmax": ("U8", (IN * OUT // 64,)),
            f"{LAYER}.weight.quant_map": ("F32", (16,)),
            f"{LAYER}.weight.nested_absmax": ("F32", (1,)),
            f"{LAYER}.weight.nested_quant_map": ("F32", (256,)),
            f"{LAYER}.weight.quant_state.bitsandbytes__nf4": ("U8", (90,)),
        },
        {"quant_method": "bitsandbytes", "load_in_4bit": True},
    ),
    "bitsandbytes of eight bits": (
        {
            f"{LAYER}.weight": ("I8", (OUT, IN)),
            f"{LAYER}.SCB": ("F32", (OUT,)),
            f"{LAYER}.weight_format": ("U8", ()),
        },
        {"quant_method": "bitsandbytes", "load_in_8bit": True},
    ),
    "compressed-tensors": (
        {
            f"{LAYER}.weight_packed": ("I32", (OUT, IN // 8)),
            f"{LAYER}.weight_scale": ("BF16", (OUT, IN // 32)),
            f"{LAYER}.weight_shape": ("I64", (2,)),
            f"{LAYER}.weight_zero_point": ("I32", (OUT // 8, IN // 32)),
        },
        {"config_groups": {"group_0": {"weights": {"num_bits": 4}}}},
    ),
    "nvfp4 of compressed-tensors": (
        {
            f"{LAYER}.weight_packed": ("U8", (OUT, IN // 2)),
            f"{LAYER}.weight_scale": ("F8_E4M3", (OUT, IN // 16)),
            f"{LAYER}.weight_global_scale": ("F32", (1,)),
            f"{LAYER}.input_global_scale": ("F32", (1,)),
        },
        {"config_groups": {"group_0": {"weights": {"num_bits": 4}}}},
    ),
    "nvfp4 of modelopt": (
        {
            f"{LAYER}.weight": ("U8", (OUT, IN // 2)),
            f"{LAYER}.weight_scale": ("F8_E4M3", (OUT, IN // 16)),
            f"{LAYER}.weight_scale_2": ("F32", ()),
            f"{LAYER}.input_scale": ("F32", ()),
        },
        {"quant_method": "modelopt"},
    ),
    "fp8": (
        {
            f"{LAYER}.weight": ("F8_E4M3", (OUT, IN)),
            f"{LAYER}.weight_scale_inv": ("F32", (1, 1)),
        },
        {"quant_method": "fp8"},
    ),
    "mxfp4": (
        {
            f"{LAYER}_blocks": ("U8", (3, 32, IN // 32, 16)),
            f"{LAYER}_scales": ("U8", (3, 32, IN // 32)),
        },
        {"quant_method": "mxfp4"},
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_each_weight_is_counted_once_and_its_scales_are_not(build, kind):
    tensors, settings = KINDS[kind]
    build.config(**CONFIG, quantization_config=settings)
    build.safetensors(EMBED | NORM | tensors)
    facts = read_facts(build.folder)
    assert facts.parameters == PLAIN + IN * OUT
    assert not facts.uncounted and facts.float32_bytes == 4 * facts.parameters
    packed = "eight" not in kind and kind != "fp8"
    assert facts.packed is packed
    names = [name for name in tensors if name.endswith(("weight", "packed", "_blocks"))]
    [[dtype, shape]] = [tensors[name] for name in names]
    assert facts.unpacked_bytes == (BYTES[dtype] * math.prod(shape) if packed else 0)
    verdict = Audit(*hear_files(build.folder)).verdict
    assert verdict.word == "tied" and verdict.costs.total == facts.parameters


@pytest.mark.parametrize(
    ("tensors", "settings"),
    [
        (GPTQ, {"quant_method": "gptq"}),
        ({f"{LAYER}.W_q": ("U8", (32, 96)), f"{LAYER}.meta": ("U8", (90,))}, {}),
        ({f"{LAYER}.q_weight": ("I32", (9, 96)), f"{LAYER}.q_scale": ("I32", (2, 12))}, {}),
        ({f"{LAYER}.weight_packed": ("I32", (96, 8))}, {"bits": "four"}),
    ],
)
def test_what_the_header_does_not_tell_is_said_to_be_too_few(build, tensors, settings):
    build.config(**CONFIG, quantization_config=settings)
    build.safetensors(EMBED | NORM | tensors)
    facts = read_facts(build.folder)
    assert facts.packed and facts.uncounted and facts.unpacked_bytes == 0
    assert facts.float32_bytes > 4 * facts.parameters
    costs = Audit(*hear_files(build.folder)).verdict.costs
    assert costs.origin == "counted from headers; packed, so fewer than the model has"


def test_a_packed_table_counts_with_what_it_holds(build):
    """As MLX writes it: E itself has four bits."""
    build.config(**CONFIG, quantization={"group_size": 32, "bits": 4, LAYER: {"bits": 8}})
    build.safetensors(
        NORM
        | {
            "model.embed_tokens.weight": ("U32", (50, 64 // 8)),
            "model.embed_tokens.scales": ("BF16", (50, 2)),
            "model.embed_tokens.biases": ("BF16", (50, 2)),
            f"{LAYER}.weight": ("U32", (OUT, IN // 4)),
            f"{LAYER}.scales": ("BF16", (OUT, 2)),
            f"{LAYER}.biases": ("BF16", (OUT, 2)),
        }
    )
    facts = read_facts(build.folder)
    assert (facts.V, facts.d, facts.parameters) == (50, 64, PLAIN + IN * OUT)
    verdict = Audit(*hear_files(build.folder)).verdict
    assert (verdict.word, verdict.costs.embedding) == ("tied", 50 * 64)
    assert verdict.costs.saved_by_tying == 50 * 64
    assert verdict.costs.origin == "counted from headers, unpacked from 7.7 kB"


def test_gpt_oss_20b_counts_as_published(build):
    rows = (json.loads(line) for line in CATALOGUE.read_text().splitlines())
    [published] = [row for row in rows if row["repo_id"] == "openai/gpt-oss-20b"]
    d, experts, heads = 2880, 32, 64 * 64
    block = {
        "self_attn.q_proj.weight": ("BF16", (heads, d)),
        "self_attn.q_proj.bias": ("BF16", (heads,)),
        "self_attn.k_proj.weight": ("BF16", (512, d)), "self_attn.k_proj.bias": ("BF16", (512,)),
        "self_attn.v_proj.weight": ("BF16", (512, d)), "self_attn.v_proj.bias": ("BF16", (512,)),
        "self_attn.o_proj.weight": ("BF16", (d, heads)), "self_attn.o_proj.bias": ("BF16", (d,)),
        "self_attn.sinks": ("BF16", (64,)),
        "mlp.router.weight": ("BF16", (experts, d)), "mlp.router.bias": ("BF16", (experts,)),
        "mlp.experts.gate_up_proj_blocks": ("U8", (experts, 2 * d, 90, 16)),
        "mlp.experts.gate_up_proj_scales": ("U8", (experts, 2 * d, 90)),
        "mlp.experts.gate_up_proj_bias": ("BF16", (experts, 2 * d)),
        "mlp.experts.down_proj_blocks": ("U8", (experts, d, 90, 16)),
        "mlp.experts.down_proj_scales": ("U8", (experts, d, 90)),
        "mlp.experts.down_proj_bias": ("BF16", (experts, d)),
        "input_layernorm.weight": ("BF16", (d,)),
        "post_attention_layernorm.weight": ("BF16", (d,)),
    }  # fmt: skip
    tables = dict.fromkeys(("model.embed_tokens.weight", "lm_head.weight"), ("BF16", (201_088, d)))
    blocks = {f"model.layers.{n}.{key}": value for n in range(24) for key, value in block.items()}
    build.config(**published["config"], quantization_config={"quant_method": "mxfp4"})
    build.safetensors(tables | {"model.norm.weight": ("BF16", (d,))} | blocks, sparse=True)
    facts = read_facts(build.folder)
    assert facts.parameters == published["published"] == 20_914_757_184
    assert not facts.uncounted
