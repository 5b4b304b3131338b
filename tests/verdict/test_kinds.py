"""Checkpoints that no case names, of the kinds that the cases stand for."""

import pytest
import torch
from safetensors.torch import save_model

from tests.verdict.conftest import DELETE, marian, randomise, tiny
from tiedviz.models.building import building
from tiedviz.verdict.audit import Audit
from tiedviz.verdict.loaded import hear_loaded
from tiedviz.verdict.repair import repair_for

E = "model.embed_tokens.weight"


def with_tensors(**tensors):
    """An edit that adds these; a function makes one from E. `__` stands for a dot."""

    def change(stored):
        for name, made in tensors.items():
            made = made(stored[E].clone()) if callable(made) else made
            stored[name.replace("__", ".")] = made

    return change


def packed(*shape, dtype=torch.int32):
    return torch.zeros(shape, dtype=dtype)


@pytest.mark.parametrize(
    ("name", "head", "word"),
    [
        ("scorer.kernel", lambda e: e.T.contiguous(), "twin"),
        ("scorer.kernel", lambda e: (e + 1).T.contiguous(), "contradiction"),
        ("lm_head.linear.weight", lambda e: e, "twin"),
        # found, and compared; but no class loads it by this name
        ("_fsdp_wrapped_module.lm_head._fsdp_wrapped_module.weight", lambda e: e, "broken"),
        # a head of several layers: h_L is what enters the last
        ("lm_head.2.weight", lambda e: e, "twin"),
        ("lm_head.2.weight", lambda e: e + 1, "contradiction"),
        ("lm_head.2.weight", lambda e: e[:, :8].contiguous(), "contradiction"),
    ],
)
def test_a_head_under_an_odd_name_is_found(checkpoint, name, head, word):
    saved = checkpoint(True).edit(with_tensors(**{name: head}))
    assert saved.verdict().word == word
    assert saved.hear()[1].head.name == name


def test_an_odd_name_with_the_rows_that_config_states_is_found(checkpoint):
    saved = checkpoint(True).edit(with_tensors(scorer__weight=torch.ones(64, 16)))
    assert saved.verdict().word == "tied"  # 64 rows of something
    found = saved.flag(64, "vocab_size")
    assert found.hear()[1].head.name == "scorer.weight"
    assert found.verdict().word == "broken"  # E has 50 rows, and cannot be loaded


PARTS = {
    "HQQ": {"W_q": packed(200, 2, dtype=torch.uint8), "meta": packed(3)},
    "EXL2": {"q_weight": packed(3, 50), "q_invperm": packed(16, dtype=torch.int16)},
    "EXL3": {"trellis": packed(1, 4, 64, dtype=torch.int16), "suh": torch.ones(16)},
    "AQLM": {"codes": packed(50, 2, 1, dtype=torch.int16), "codebooks": torch.ones(1, 16, 1, 8)},
    "QuIP#": {"Qidxs": packed(50, 2, dtype=torch.int16), "SU": torch.ones(16)},
    "VPTQ": {"indices": packed(1, 50, 2), "centroids.weight": torch.ones(1, 256)},
    "quanto": {"weight._data": packed(50, 16, dtype=torch.int8), "weight._scale": torch.ones(50)},
    "torchao": {"_weight_qdata": packed(50, 16, dtype=torch.int8), "_weight_scale": torch.ones(50)},
    "LLM.int8": {"weight": packed(50, 16, dtype=torch.int8), "SCB": torch.ones(50)},
    "FP8": {"weight": torch.ones(50, 16).to(torch.float8_e4m3fn), "weight_scale": torch.ones(50)},
    "factors": {"A": torch.ones(8, 16), "B": torch.ones(50, 8)},
    "weight norm": {"weight_g": torch.ones(50, 1), "weight_v": torch.ones(50, 16)},
    "parametrized": {
        "parametrizations.weight.original0": torch.ones(50, 1),
        "parametrizations.weight.original1": torch.ones(50, 16),
    },
}  # fmt: skip


@pytest.mark.parametrize("tie", [True, False])
@pytest.mark.parametrize("kind", PARTS)
def test_a_head_in_parts_or_packed_in_any_way_is_not_passed_over(checkpoint, kind, tie):
    parts = {f"lm_head.{name}": tensor for name, tensor in PARTS[kind].items()}
    verdict = checkpoint(True).flag(tie).edit(with_tensors(**parts)).verdict()
    assert verdict.word == "cannot_tell"
    assert "only the library that wrote it" in verdict.state
    assert "library that wrote it" in verdict.advice


def test_a_loader_that_ignores_a_packed_head_proves_nothing(checkpoint):
    parts = {"lm_head.trellis": packed(1, 4, 64, dtype=torch.int16)}
    saved = checkpoint(True).edit(with_tensors(**parts))
    assert Audit(*saved.hear(), hear_loaded(tiny(True))).verdict.word == "cannot_tell"


@pytest.mark.parametrize(
    "beside",
    [
        {"lm_head.bias": torch.ones(50)},
        {"lm_head.dense.weight": torch.ones(16, 16), "lm_head.layer_norm.weight": torch.ones(16)},
        {"model.layers.0.mlp.W_q": packed(200, 2, dtype=torch.uint8)},
    ],
)
def test_what_stands_before_a_tied_head_is_no_head(checkpoint, beside):
    assert checkpoint(True).edit(with_tensors(**beside)).verdict().word == "tied"


@pytest.mark.parametrize(
    ("tie", "head", "word", "state", "advice"),
    [
        (True, lambda e: e[:47].clone(), "broken", "50 and 47 rows; all of the first 47",
         "keep the one with as many rows"),
        (True, lambda e: torch.cat([e, torch.zeros(14, 16)]), "broken",
         "50 and 64 rows; all of the first 50 are equal", "keep the one with as many rows"),
        (True, lambda e: torch.cat([e[:46], e[:1]]), "broken",
         "50 and 47 rows; all but 1 of the first 47", "before one was resized alone"),
        (False, lambda e: e[:47] + 1, "broken", "is stored as 47×16", "resized alone"),
    ],
)  # fmt: skip
def test_one_matrix_resized_without_the_other(checkpoint, tie, head, word, state, advice):
    verdict = checkpoint(True).flag(tie).add_head(head).verdict()
    assert verdict.word == word
    assert state in verdict.state and advice in verdict.advice


def encoder_decoder(tie):
    from transformers import BertConfig, EncoderDecoderConfig, EncoderDecoderModel

    sizes = {"vocab_size": 50, "hidden_size": 16, "intermediate_size": 32}
    layers = {"num_hidden_layers": 1, "num_attention_heads": 2, "max_position_embeddings": 64}
    decoder = BertConfig(
        **sizes, **layers, is_decoder=True, add_cross_attention=True, tie_word_embeddings=tie
    )
    parts = (BertConfig(**sizes, **layers), decoder)
    with building():
        config = EncoderDecoderConfig.from_encoder_decoder_configs(*parts)
        return randomise(EncoderDecoderModel(config))


@pytest.mark.parametrize(("tie", "word"), [(True, "partly_tied"), (False, "untied")])
def test_a_decoder_of_another_class_has_its_own_table(save, tie, word):
    """The flag stands in the decoder's part alone, and the encoder's table is no partner of W."""
    model = encoder_decoder(tie)
    saved = save(model)
    declared, stored = saved.hear()
    assert declared.path == "decoder.tie_word_embeddings"
    assert stored.partner.name == "decoder.bert.embeddings.word_embeddings.weight"
    files, both = saved.verdict(), Audit(declared, stored, hear_loaded(model)).verdict
    assert (files.word, both.word) == (word, word)


@pytest.mark.parametrize("make", [marian, encoder_decoder])
def test_an_output_tied_to_the_decoders_own_table_can_be_opened_and_heard(
    save, make, tiny_tokenizer
):
    from tiedviz.verdict.audit import audit

    saved = save(make(True))
    tiny_tokenizer.save_pretrained(saved.folder)
    heard = audit(str(saved.folder), load=True, report=lambda step: None)
    assert heard.loaded is not None, heard.verdict.evidence[2].text
    assert heard.verdict.word == "partly_tied"
    assert heard.verdict.unheard == ()


def bart(save):
    from transformers import BartConfig, BartForConditionalGeneration

    sizes = {"vocab_size": 50, "d_model": 16, "encoder_layers": 1, "decoder_layers": 1}
    heads = {"encoder_attention_heads": 2, "decoder_attention_heads": 2}
    widths = {"encoder_ffn_dim": 32, "decoder_ffn_dim": 32}
    with building():
        return save(randomise(BartForConditionalGeneration(BartConfig(**sizes, **heads, **widths))))


@pytest.mark.parametrize(
    ("change", "word"), [(lambda e: e.clone(), "tied"), (lambda e: e + 1, "partly_tied")]
)
def test_three_stored_tables_of_an_encoder_and_a_decoder(save, change, word):
    def three(stored):
        table = stored["model.shared.weight"]
        stored["model.encoder.embed_tokens.weight"] = table.clone()
        stored["model.decoder.embed_tokens.weight"] = change(table)

    saved = bart(save).edit(three)
    verdict = saved.verdict()
    assert verdict.word == word
    assert "not compared with it" not in verdict.evidence[1].text
    unheard = Audit(*saved.hear(most=100)).verdict.evidence[1].text
    assert "not compared with it: model.decoder.embed_tokens.weight, model.encoder" in unheard
    if word == "partly_tied":
        assert "other numbers are stored in model.decoder.embed_tokens.weight" in verdict.state


@pytest.mark.parametrize(
    ("flag", "word"), [(True, "tied"), (DELETE, "broken"), (False, "broken"), (None, "tied")]
)
def test_a_name_left_out_by_save_model_is_remembered(save, flag, word):
    """`save_model` keeps one name of each matrix, and the others in the file's metadata."""
    saved = save(tiny(True)).flag(flag)
    save_model(tiny(True), saved.folder / "model.safetensors")  # keeps the first by the alphabet
    assert saved.hear()[1].alias == E
    verdict = saved.verdict()
    assert verdict.word == word
    if word == "broken":
        assert "was tied when it was saved" in verdict.causes[0]


def test_a_tied_matrix_without_any_config_is_told_by_the_files_own_metadata(save):
    saved = save(tiny(True))
    (saved.folder / "config.json").unlink()
    assert saved.verdict().word == "cannot_tell"
    save_model(tiny(True), saved.folder / "model.safetensors")
    assert saved.verdict().word == "tied"


def test_a_table_that_only_says_that_it_embeds_is_set_beside_the_head(build_files):
    files = {"semantic.input_embeds_layer.weight": ("F32", (50, 16))}
    files |= {"semantic.lm_head.weight": ("F32", (50, 16))}
    build_files.config(model_type="odd", tie_word_embeddings=True)
    build_files.safetensors(files)
    from tiedviz.verdict.audit import hear_files

    assert Audit(*hear_files(build_files.folder)).verdict.word == "twin"  # both are zeros


@pytest.fixture
def build_files(tmp_path):
    from tests.files.conftest import Build

    return Build(tmp_path)


@pytest.mark.parametrize("tie", [True, False])
def test_a_backbone_with_names_of_its_own(save, tie):
    from transformers import Mamba2Config, Mamba2ForCausalLM

    sizes = {"vocab_size": 50, "hidden_size": 16, "num_hidden_layers": 1, "state_size": 4}
    with building():
        config = Mamba2Config(**sizes, num_heads=4, head_dim=8, n_groups=1, tie_word_embeddings=tie)
        model = randomise(Mamba2ForCausalLM(config))
    saved = save(model)
    assert saved.hear()[1].embedding.name == "backbone.embeddings.weight"
    assert saved.verdict().word == ("tied" if tie else "untied")


@pytest.mark.parametrize("tie", [True, False])
def test_a_flag_at_the_top_and_a_contrary_one_in_the_text_part(save, tie):
    """LLaVA takes its text part's true, and its own true over the text part's false."""
    from transformers import CLIPVisionConfig, LlamaConfig, LlavaConfig
    from transformers import LlavaForConditionalGeneration as Llava

    text = {"vocab_size": 50, "hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 1}
    heads = {"num_attention_heads": 2}
    seen = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 1, "image_size": 8}
    with building():
        config = LlavaConfig(
            vision_config=CLIPVisionConfig(**seen, **heads, patch_size=4),
            text_config=LlamaConfig(**text, **heads, tie_word_embeddings=True),
        )
        model = randomise(Llava(config))
    saved = save(model).flag(tie).flag(not tie, "text_config.tie_word_embeddings")
    with building():
        live = hear_loaded(Llava.from_pretrained(saved.folder))
    assert (saved.verdict().word == "tied") is live.same_storage is True


@pytest.mark.filterwarnings("ignore")
def test_a_class_that_scores_in_a_way_of_its_own_is_not_called_broken(save):
    """DeBERTa without the legacy head multiplies by E itself, whatever the flag says."""
    from tests.tiny_models import build

    model = build("deberta-v2:own-head", tie_word_embeddings=False).model
    saved = save(model)
    assert Audit(*saved.hear(), hear_loaded(model)).verdict.word == "cannot_tell"


@pytest.mark.parametrize("key", ["tie_embeddings", "weight_tying"])
def test_the_flag_of_another_library_counts_where_transformers_has_no_class(checkpoint, key):
    saved = checkpoint(True).flag(DELETE).flag(True, key)
    assert saved.verdict().word == "broken"  # Llama does not look at it
    assert f"{key} = true" in saved.verdict().evidence[0].text
    saved.flag("mamba_ssm", "model_type").flag(["OddForCausalLM"], "architectures")
    declared, _ = saved.hear()
    assert (declared.tied, declared.path) == (True, key)
    assert saved.verdict().word == "tied"


@pytest.mark.parametrize("shape", [(0,), (0, 16)])
@pytest.mark.parametrize(("tie", "word"), [(True, "tied"), (False, "broken")])
def test_a_head_without_numbers_is_none(checkpoint, tie, word, shape):
    """As DeepSpeed ZeRO-3 saves a model whose parts were not gathered."""
    saved = checkpoint(True).flag(tie).edit(with_tensors(lm_head__weight=torch.zeros(shape)))
    verdict = saved.verdict()
    assert verdict.word == word
    said = verdict.advice if tie else verdict.causes[0]
    assert "lm_head.weight is stored without a number" in said
    assert "stored without a number: lm_head.weight" in verdict.evidence[1].text
    if not tie:  # a flag alone would leave a file that no loader takes
        assert "gather the parts" in repair_for("broken", *saved.hear())


def test_an_input_table_without_numbers_cannot_tell(checkpoint):
    verdict = checkpoint(True).edit(with_tensors(**{E: torch.zeros(0)})).verdict()
    assert verdict.word == "cannot_tell"
    assert f"{E} is stored without a number" in verdict.state and "Gather" in verdict.advice
