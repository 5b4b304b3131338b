"""The lines that are shown for a repair give the verdict they promise, when somebody runs them."""

import json

import numpy
import pytest
import torch

from tests.verdict.conftest import DELETE, Checkpoint, randomise
from tiedviz.models.building import building
from tiedviz.verdict.audit import Audit, hear_files
from tiedviz.verdict.decide import Verdict
from tiedviz.verdict.repair import repair_for

SIZES = {"vocab_size": 50, "hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 1}
SEQ2SEQ = {"vocab_size": 50, "d_model": 16}


def build(kind):
    """A tied model of each class that a snippet has to open."""
    import transformers

    heads = {"num_attention_heads": 2, "max_position_embeddings": 64}
    sides = {
        **{f"{side}_layers": 1 for side in ("encoder", "decoder")},
        **{f"{side}_attention_heads": 2 for side in ("encoder", "decoder")},
        **{f"{side}_ffn_dim": 32 for side in ("encoder", "decoder")},
    }
    settings = {
        "LlamaForCausalLM": SIZES | heads,
        "GPT2LMHeadModel": {"vocab_size": 50, "n_embd": 16, "n_layer": 1, "n_head": 2},
        "BertForMaskedLM": SIZES | heads,
        "T5ForConditionalGeneration": SEQ2SEQ | {"d_kv": 8, "d_ff": 32, "num_layers": 1},
        "BartForConditionalGeneration": SEQ2SEQ | sides,
        "WhisperForConditionalGeneration": SEQ2SEQ
        | sides
        | {"num_mel_bins": 8, "max_source_positions": 10, "pad_token_id": 0}
        | dict.fromkeys(("bos_token_id", "eos_token_id", "decoder_start_token_id"), 1),
    }[kind]
    cls = getattr(transformers, kind)
    with building():
        model = cls(cls.config_class(**settings, tie_word_embeddings=True))
    return randomise(model).eval()


KINDS = (
    *("LlamaForCausalLM", "GPT2LMHeadModel", "BertForMaskedLM", "T5ForConditionalGeneration"),
    *("BartForConditionalGeneration", "WhisperForConditionalGeneration"),
)


@pytest.fixture
def spoilt(tmp_path, tiny_tokenizer):
    """A saved model of a class, with a head made from E, and a flag."""

    def make(kind, head=None, flag=None):
        folder = tmp_path / kind
        model = build(kind)
        model.save_pretrained(folder)
        tiny_tokenizer.save_pretrained(folder)
        names = {id(p): name for name, p in model.named_parameters(remove_duplicate=False)}
        # of several names of the one matrix, the last is the head's
        scorer = names[id(model.get_output_embeddings().weight)]
        saved = Checkpoint(folder)
        if head is not None:
            table = saved.hear()[1].embedding.name
            saved.edit(lambda t: t.__setitem__(scorer, head(t[table].clone())))
        return saved if flag is None else saved.flag(flag)

    return make


def run(code, folder):
    fixed = folder.parent / "fixed"
    exec(code.replace("FOLDER", str(folder)).replace("FIXED", str(fixed)), {})
    return fixed if fixed.is_dir() else folder


def mend(saved, before):
    """Run the repair of a spoilt checkpoint; the verdict and the folder afterwards."""
    verdict = saved.verdict()
    assert verdict.word == before
    repair = repair_for(verdict.word, *saved.hear())
    saved.folder = run(repair.code, saved.folder)
    after = saved.verdict()
    assert after.word == repair.gives
    return after


def live(saved, kind):
    """E and W of the model as transformers opens it."""
    import transformers

    with building():
        model = getattr(transformers, kind).from_pretrained(saved.folder)
    return model.get_input_embeddings().weight, model.get_output_embeddings().weight


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("flag", [None, False])
@pytest.mark.parametrize("kind", KINDS)
def test_a_second_copy_goes_whatever_the_class(spoilt, kind, flag):
    saved = spoilt(kind, lambda e: e, flag)
    if kind == "T5ForConditionalGeneration" and flag is False:
        assert "changes the logits" in repair_for("twin", *saved.hear())
        return
    before, _ = live(saved, kind)
    assert kind in repair_for("twin", *saved.hear()).code
    mend(saved, "twin")
    assert saved.hear()[1].head is None
    after, head = live(saved, kind)
    assert head is after and torch.equal(before, after)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("flag", [None, False])
@pytest.mark.parametrize("kind", KINDS)
def test_of_two_roundings_the_finer_stays(spoilt, kind, flag):
    saved = spoilt(kind, lambda e: e.bfloat16(), flag)
    if kind == "T5ForConditionalGeneration" and flag is False:
        assert "changes the logits" in repair_for("near_twin", *saved.hear())
        return
    before, _ = live(saved, kind)
    mend(saved, "near_twin")
    after, head = live(saved, kind)
    assert head is after and torch.equal(before, after)


def test_of_two_roundings_a_finer_head_stays(spoilt):
    kind = "LlamaForCausalLM"
    saved = spoilt(kind)

    def round_e(tensors):
        tensors["lm_head.weight"] = tensors["model.embed_tokens.weight"].clone()
        tensors["model.embed_tokens.weight"] = tensors["model.embed_tokens.weight"].bfloat16()

    saved.edit(round_e)
    _, before = live(saved, kind)
    mend(saved, "near_twin")
    after, head = live(saved, kind)
    assert head is after and torch.equal(before, after)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", KINDS)
def test_a_contradiction_ends_by_declaring_the_stored_head(spoilt, kind):
    saved = spoilt(kind, lambda e: e + 1)
    mend(saved, "contradiction")
    e, w = live(saved, kind)
    assert torch.allclose(w, e + 1)


@pytest.mark.parametrize("flag", [False, DELETE])
@pytest.mark.parametrize("kind", KINDS)
def test_a_lost_flag_is_set_again(spoilt, kind, flag):
    saved = spoilt(kind, flag=flag)
    if flag is DELETE and saved.verdict().word == "tied":
        return  # the class's own default is tied: nothing is broken
    mend(saved, "broken")
    e, w = live(saved, kind)
    assert e is w


@pytest.mark.parametrize("text_config", [{}, {"hidden_size": 16}, None])
def test_a_flag_inside_a_part_is_written_there_even_where_the_part_lacks(tmp_path, text_config):
    from tiedviz.verdict.repair import set_flag

    folder = tmp_path / "given"
    folder.mkdir()
    path = folder / "config.json"
    given = json.dumps({} if text_config is None else {"text_config": text_config})
    path.write_text(given)
    fixed = run(set_flag("text_config.tie_word_embeddings", True, "", "tied").code, folder)
    assert path.read_text() == given  # what was given stays as it is
    part = json.loads((fixed / "config.json").read_text())["text_config"]
    assert part == (text_config or {}) | {"tie_word_embeddings": True}


def test_shared_storage_that_is_declared_apart_becomes_one(spoilt):
    saved = spoilt("LlamaForCausalLM", flag=False)
    (saved.folder / "model.safetensors").unlink()
    torch.save(build("LlamaForCausalLM").state_dict(), saved.folder / "pytorch_model.bin")
    mend(saved, "twin")


def test_what_lines_cannot_mend_is_said(spoilt, checkpoint):
    saved = spoilt("LlamaForCausalLM", lambda e: e)
    saved.flag(["OddForCausalLM"], "architectures").flag("odd", "model_type")
    assert "transformers has no OddForCausalLM" in repair_for("twin", *saved.hear())
    resized = checkpoint(True).add_head(lambda e: e[:40].clone())
    assert resized.verdict().word == "broken"
    assert "the save before one was changed" in repair_for("broken", *resized.hear())


@pytest.mark.parametrize("word", ["tied", "untied", "no_head", "cannot_tell", "partly_tied"])
def test_what_is_whole_needs_no_repair(checkpoint, word):
    assert repair_for(word, *checkpoint(True).hear()) == ""


# GGUF: llama.cpp's own rule is that an output that is not stored is read from token_embd.

WIDTH, ROWS = 32, 64


@pytest.fixture
def whole_gguf(tmp_path):
    """A whole Llama of one block with E and an output matrix in the types named."""
    import gguf

    def write(kinds):
        numbers = numpy.random.default_rng(0)

        def made(*shape):
            return numbers.standard_normal(shape).astype(numpy.float32)

        path = tmp_path / "model.gguf"
        writer = gguf.GGUFWriter(path, "llama")
        writer.add_custom_alignment(64)
        writer.add_context_length(64)
        writer.add_embedding_length(WIDTH)
        writer.add_block_count(1)
        writer.add_feed_forward_length(WIDTH)
        writer.add_head_count(2)
        writer.add_head_count_kv(2)
        writer.add_layer_norm_rms_eps(1e-5)
        writer.add_vocab_size(ROWS)
        writer.add_tokenizer_model("gpt2")
        writer.add_token_list([f"w{row}" for row in range(ROWS)])
        writer.add_token_types([1] * ROWS)
        writer.add_token_merges(["w 0"])
        table = made(ROWS, WIDTH)
        for name, kind in zip(("token_embd", "output"), kinds, strict=True):
            number = gguf.GGMLQuantizationType[kind]
            data = table if kind == "F32" else gguf.quants.quantize(table, number)
            writer.add_tensor(f"{name}.weight", data, raw_dtype=number)
        for name in ("output_norm", "blk.0.attn_norm", "blk.0.ffn_norm"):
            writer.add_tensor(f"{name}.weight", made(WIDTH))
        for name in ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"):
            writer.add_tensor(f"blk.0.{name}.weight", made(WIDTH, WIDTH))
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
        return path

    return write


def verdict_of(path) -> Verdict:
    return Audit(*hear_files(path)).verdict


def opened(path):
    """What transformers makes of a GGUF file: the model, its logits, and what enters the head."""
    from transformers import AutoModelForCausalLM, GgufConfig

    with building():
        model = AutoModelForCausalLM.from_pretrained(
            path.parent,
            gguf_file=path.name,
            quantization_config=GgufConfig(dequantize=True),
            dtype=torch.float32,
        ).eval()
    with torch.no_grad():
        out = model(torch.tensor([[3, 9, 27]]), output_hidden_states=True)
    return model, out.logits, out.hidden_states[-1]


@pytest.mark.parametrize(
    ("kinds", "before", "kept"),
    [
        (("Q8_0", "Q4_0"), "near_twin", "token_embd.weight"),
        (("Q4_0", "Q8_0"), "near_twin", "output.weight"),
        (("F32", "Q8_0"), "near_twin", "token_embd.weight"),
        (("Q8_0", "Q8_0"), "twin", "token_embd.weight"),
    ],
)
def test_a_gguf_file_of_two_copies_becomes_one_of_one(whole_gguf, kinds, before, kept):
    from gguf import GGUFReader
    from gguf.quants import dequantize

    path = whole_gguf(kinds)
    stored = {tensor.name: tensor for tensor in GGUFReader(path).tensors}
    wanted = torch.from_numpy(dequantize(stored[kept].data, stored[kept].tensor_type))
    verdict = verdict_of(path)
    assert verdict.word == before
    assert "leave output.weight out" in verdict.advice and "convert" in verdict.advice
    repair = repair_for(verdict.word, *hear_files(path))
    assert kept in repair.what
    fixed = path.with_name("fixed.gguf")
    exec(repair.code.replace("FILE.gguf", str(path)).replace("FIXED.gguf", str(fixed)), {})

    assert verdict_of(fixed).word == repair.gives == "tied"
    after = {tensor.name: tensor for tensor in GGUFReader(fixed).tensors}
    assert set(stored) - set(after) == {"output.weight"}
    assert all(
        numpy.array_equal(after[name].data, stored[name].data)
        for name in set(after) - {"token_embd.weight"}
    )
    model, logits, h = opened(fixed)
    e = model.get_input_embeddings().weight
    assert model.get_output_embeddings().weight is e and torch.equal(e, wanted)
    assert torch.allclose(logits, h @ wanted.T, atol=1e-4)


def test_every_key_of_a_gguf_file_is_kept(whole_gguf):
    from gguf import GGUFReader

    path = whole_gguf(("Q8_0", "Q4_0"))
    fixed = path.with_name("fixed.gguf")
    code = repair_for("near_twin", *hear_files(path)).code
    exec(code.replace("FILE.gguf", str(path)).replace("FIXED.gguf", str(fixed)), {})

    def keys(file):
        fields = GGUFReader(file).fields.values()
        return {f.name: f.contents() for f in fields if not f.name.startswith("GGUF.")}

    assert keys(fixed) == keys(path)
