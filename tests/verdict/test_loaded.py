"""What a live model shares: never by `data_ptr` alone."""

import accelerate
import pytest
import torch
from torch import nn

from tests.tiny_models import RECIPES, build
from tests.verdict.conftest import tiny
from tiedviz.verdict.audit import Audit
from tiedviz.verdict.declared import declared_in
from tiedviz.verdict.loaded import hear_loaded
from tiedviz.verdict.storage import (
    count_parameters,
    identity,
    overlap,
    same_storage,
    same_values,
    tie_groups,
)

E, W = "model.embed_tokens.weight", "lm_head.weight"


def word_of(loaded, tied=None):
    declared = None if tied is None else declared_in({"tie_word_embeddings": tied})
    return Audit(declared, None, loaded).verdict.word


def test_a_tied_model_is_one_parameter():
    found = hear_loaded(tiny(True))
    assert found.same_object and found.same_storage and found.same_values
    assert (found.dtype, found.on_meta, found.effective) == ("float32", False, True)
    assert found.groups == ((E, W),)
    assert (found.parameters, found.embedding, found.head) == (6000, 800, 800)
    assert word_of(found) == "tied"


def test_an_untied_model_is_two():
    found = hear_loaded(tiny(False))
    assert (found.same_object, found.same_storage, found.same_values) == (False, False, False)
    assert found.groups == () and found.parameters == 6800
    assert word_of(found, False) == "untied" and word_of(found, True) == "contradiction"


@pytest.mark.case(27)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("dtype", "word"), [("float32", "contradiction"), ("bfloat16", "tied")])
def test_case_27_a_head_in_another_dtype_is_tied_only_where_both_are_rounded(
    checkpoint, dtype, word
):
    from transformers import AutoModelForCausalLM

    from tiedviz.models.building import building

    saved = checkpoint(True).add_head(lambda e: e.bfloat16())
    with building():
        model = AutoModelForCausalLM.from_pretrained(saved.folder, dtype=dtype)
    found = hear_loaded(model)
    assert found.same_storage is (dtype == "bfloat16")
    # as stored, whatever became of it
    assert Audit(*saved.hear(), found).verdict.word == "near_twin"
    assert Audit(saved.hear()[0], None, found).verdict.word == word  # by memory alone


def test_equal_copies_are_twins_and_not_tied():
    model = tiny(False)
    with torch.no_grad():
        model.lm_head.weight.copy_(model.model.embed_tokens.weight)
    found = hear_loaded(model)
    assert not found.same_storage and found.same_values and word_of(found) == "twin"


@pytest.mark.case(44)
@pytest.mark.parametrize("tie", [True, False])
def test_on_meta_nothing_can_be_told(tie):  # case 44
    with torch.device("meta"):
        model = plain(tie)
    found = hear_loaded(model)
    assert found.on_meta and not found.same_storage and found.same_values is None
    assert word_of(found, tie) == "cannot_tell"
    assert len(found.groups) == (1 if tie else 0)  # by object, and not one enormous group


def plain(tie):
    from transformers import LlamaConfig, LlamaForCausalLM

    from tiedviz.models.building import building

    sizes = {"vocab_size": 50, "hidden_size": 16, "intermediate_size": 32}
    heads = {"num_attention_heads": 2, "num_key_value_heads": 2, "num_hidden_layers": 2}
    with building():
        return LlamaForCausalLM(LlamaConfig(**sizes, **heads, tie_word_embeddings=tie))


@pytest.mark.case(44)
def test_an_offloaded_model_cannot_tell_and_the_files_can(checkpoint):  # case 44
    saved = checkpoint(True)
    model = tiny(True)
    accelerate.cpu_offload(model)
    found = hear_loaded(model)
    assert found.on_meta and word_of(found) == "cannot_tell"
    assert Audit(*saved.hear(), found).verdict.word == "tied"


def test_a_slice_of_e_is_not_e():
    model = tiny(False)
    model.lm_head.weight = nn.Parameter(model.model.embed_tokens.weight.data[:40])
    found = hear_loaded(model)
    assert found.overlapping and not found.same_storage and found.same_values is False
    assert word_of(found) == "partly_tied"


def test_two_parameters_over_one_storage_share_it():
    model = tiny(False)
    model.lm_head.weight = nn.Parameter(model.model.embed_tokens.weight.data)
    found = hear_loaded(model)
    assert not found.same_object and found.same_storage and found.parameters == 6000
    assert found.groups == ((E, W),) and word_of(found) == "tied"


def test_a_doubled_parameter_is_counted_once():
    model = tiny(True)
    model.alias = model.model.embed_tokens.weight
    found = hear_loaded(model)
    assert found.parameters == 6000 and set(found.groups[0]) == {E, W, "alias"}


def test_one_storage_seen_with_other_strides_is_not_the_same():
    square = torch.randn(8, 8)
    assert same_storage(square, square.view(8, 8)) and not same_storage(square, square.T)
    assert overlap(square, square.T) and not overlap(square[:4], square[4:])
    assert same_values(square, square.T) is False


def test_empty_and_meta_tensors_have_no_identity():
    assert identity(torch.empty(0)) is None
    assert identity(torch.empty(2, 2, device="meta")) is None
    meta = torch.empty(2, 2, device="meta")
    assert not same_storage(meta, torch.empty(2, 2, device="meta")) and not overlap(meta, meta)
    assert same_values(meta, meta) is None


def test_values_across_dtypes_are_compared_exactly():
    numbers = torch.randn(3000, 600).bfloat16()
    assert same_values(numbers, numbers.float())
    other = numbers.float()
    other[2999, 599] += 1e-3
    assert same_values(numbers, other) is False


# As in accelerate's own test of find_tied_parameters.


def five(ties):
    model = nn.Sequential(*[nn.Linear(4, 4) for _ in range(3)])
    model.append(nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4)))
    layers = {"0": model[0], "1": model[1], "2": model[2], "3.0": model[3][0], "3.1": model[3][1]}
    for target, source in ties:
        layers[target].weight = layers[source].weight
    return model


@pytest.mark.parametrize(
    ("ties", "groups"),
    [
        ([], ()),
        ([("2", "0")], (("0.weight", "2.weight"),)),
        ([("2", "0"), ("3.1", "0")], (("0.weight", "2.weight", "3.1.weight"),)),
        ([("2", "0"), ("3.1", "1")], (("0.weight", "2.weight"), ("1.weight", "3.1.weight"))),
        ([("3.1", "3.0")], (("3.0.weight", "3.1.weight"),)),
    ],
)
def test_all_groups_are_found(ties, groups):
    model = five(ties)
    assert tie_groups(model) == groups
    tied = sum(len(group) - 1 for group in groups)
    assert count_parameters(model) == 5 * 20 - tied * 16


def test_a_module_used_twice_is_a_group():
    layer = nn.Linear(4, 4)
    groups = tie_groups(nn.Sequential(layer, nn.ReLU(), layer))
    assert groups == (("0.weight", "2.weight"), ("0.bias", "2.bias"))


def test_biases_and_both_sides_are_groups_too():
    assert ("cls.predictions.bias", "cls.predictions.decoder.bias") in hear_loaded(
        build("bert").model
    ).groups
    [group] = hear_loaded(build("t5").model).groups
    assert {"shared.weight", "encoder.embed_tokens.weight", "lm_head.weight"} <= set(group)


# Wrappers, quantised heads, adapters.


@pytest.mark.case(74)
def test_a_compiled_model_is_looked_into():  # case 74
    found = hear_loaded(torch.compile(tiny(True)))
    assert found.same_object and found.groups == ((E, W),) and word_of(found) == "tied"


@pytest.mark.case(74)
def test_a_data_parallel_model_is_looked_into():  # case 74
    assert hear_loaded(nn.DataParallel(tiny(True))).same_object
    assert hear_loaded(nn.DataParallel(torch.compile(tiny(False)))).same_values is False


@pytest.mark.case(62, 74)
@pytest.mark.filterwarnings("ignore")
def test_a_quantised_head_is_named(checkpoint):  # case 74, case 62
    import copy

    model = torch.ao.quantization.quantize_dynamic(
        copy.deepcopy(tiny(True)), {nn.Linear}, dtype=torch.qint8
    )
    found = hear_loaded(model)
    assert (found.quantised, found.near, found.same_storage) == ("qint8", "quantisation", False)
    verdict = Audit(*checkpoint(True).hear(), found).verdict
    assert verdict.word == "near_twin"
    assert "the head is quantised (qint8)" in verdict.evidence[2].text
    other = torch.ao.quantization.quantize_dynamic(tiny(False), {nn.Linear}, dtype=torch.qint8)
    assert hear_loaded(other).near == "" and word_of(hear_loaded(other)) == "cannot_tell"


class Packed(nn.Module):
    """As other libraries keep a layer: integers under names of their own."""

    def __init__(self):
        super().__init__()
        self.register_buffer("qweight", torch.zeros((2, 50), dtype=torch.int32))


def test_another_librarys_head_is_not_guessed_at():
    model = tiny(True)
    model.lm_head = Packed()
    found = hear_loaded(model)
    assert found.quantised == "Packed" and found.same_values is None
    assert word_of(found, True) == "cannot_tell"


class Lora(nn.Module):
    """As PEFT lays a LoRA over a layer."""

    def __init__(self, layer):
        super().__init__()
        self.base_layer = layer
        self.lora_A = nn.ModuleDict({"default": nn.Linear(16, 4)})

    @property
    def weight(self):
        return self.base_layer.weight


@pytest.mark.case(47)
def test_an_adapter_on_either_side_is_seen_through():  # case 47
    model = tiny(True)
    model.lm_head = Lora(model.lm_head)
    found = hear_loaded(model)
    assert found.same_storage and found.adapters == ("output",) and word_of(found) == "adapter"
    model.model.embed_tokens = Lora(model.model.embed_tokens)
    assert hear_loaded(model).adapters == ("input", "output")
    untied = tiny(False)
    untied.lm_head = Lora(untied.lm_head)
    assert word_of(hear_loaded(untied), False) == "untied"


@pytest.mark.case(47)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("target", ["lm_head", "embed_tokens"])
def test_pefts_own_lora_on_a_tied_layer(checkpoint, target):  # case 47
    peft = pytest.importorskip("peft")
    base = tiny(True)
    model = peft.get_peft_model(base, peft.LoraConfig(target_modules=[target]))
    found = hear_loaded(model)
    assert found.adapters == (("output",) if target == "lm_head" else ("input",))
    assert Audit(*checkpoint(True).hear(), found).verdict.word == "adapter"


# Flags, and every kind of model.


def test_the_effective_flag_is_what_the_class_looked_at():
    from transformers import T5Config, T5ForConditionalGeneration

    from tiedviz.models.building import building

    with building():
        config = T5Config(
            vocab_size=50, d_model=16, d_kv=8, d_ff=32, num_layers=1, num_heads=2,
            tie_word_embeddings=False,
        )  # fmt: skip
        model = T5ForConditionalGeneration(config)
    found = hear_loaded(model)
    assert found.effective is True and found.same_storage


@pytest.mark.case(29)
def test_a_seq2seq_head_of_its_own_leaves_the_encoder_and_decoder_tied():  # case 29
    model = build("t5").model
    model.lm_head.weight = nn.Parameter(torch.randn_like(model.lm_head.weight))
    found = hear_loaded(model)
    verdict = Audit(None, None, found).verdict
    assert verdict.word == "partly_tied"
    assert verdict.state == "Encoder and decoder share a table; the output does not."
    assert {"encoder.embed_tokens.weight", "decoder.embed_tokens.weight"} <= set(found.groups[0])


@pytest.mark.case(29)
def test_t5_v1_1_as_transformers_loads_it(save):  # case 29
    from transformers import T5ForConditionalGeneration

    from tests.verdict.test_cases import t5
    from tiedviz.models.building import building

    saved = t5(save)
    with building():
        model = T5ForConditionalGeneration.from_pretrained(saved.folder)
    found = hear_loaded(model)
    verdict = Audit(*saved.hear(), found).verdict
    assert saved.hear()[0].tied is False and found.effective is True
    assert verdict.word == "untied"
    assert {"shared.weight", "encoder.embed_tokens.weight"} <= set(verdict.groups[0])
    assert "tables on the input side are one" in verdict.summary


def test_a_base_model_has_no_output():
    found = hear_loaded(tiny(True).model)
    assert not found.has_head and word_of(found) == "no_head"


def test_only_missing_heads_count_as_missing():
    found = hear_loaded(tiny(False), missing=["lm_head.weight", "model.norm.weight"])
    assert found.missing == ("lm_head.weight",) and word_of(found, False) == "broken"


@pytest.mark.parametrize("name", RECIPES)
def test_every_architecture_is_heard(name):
    model = build(name).model
    found = hear_loaded(model)
    e, w = model.get_input_embeddings(), model.get_output_embeddings()
    assert found.has_head and not found.on_meta and not found.quantised and not found.adapters
    assert found.same_object is (e.weight is w.weight)
    assert found.parameters == sum(p.numel() for p in model.parameters())
    expected = {"cannot_tell"} if found.strange else {"tied", "untied", "partly_tied"}
    assert word_of(found, bool(found.effective)) in expected
    assert bool(found.strange) is (name == "deberta-v2:own-head")
    assert not found.same_storage or found.effective


def test_looking_changes_nothing():
    model = tiny(True)
    before = {name: (id(p), p._version) for name, p in model.named_parameters()}
    hear_loaded(model)
    assert {name: (id(p), p._version) for name, p in model.named_parameters()} == before
