import io
import pickle
import struct
import zipfile
from collections import OrderedDict

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tiedviz.files import pickled
from tiedviz.files.formats import read_header
from tiedviz.files.pickled import read_pickled
from tiedviz.words.refusals.file import FileRefusal


def saved(state, **options):
    stream = io.BytesIO()
    torch.save(state, stream, **options)
    return stream.getvalue()


def read(content):
    return read_pickled(lambda at, n: content[at : at + n], len(content), "pytorch_model.bin")


def zipped(program, extra=(), compression=zipfile.ZIP_STORED):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", compression) as archive:
        archive.writestr("archive/data.pkl", program)
        for name, content in extra:
            archive.writestr(f"archive/{name}", content)
    return stream.getvalue()


def test_every_type_of_number_is_named_as_in_safetensors():
    kinds = "float64 F64,float32 F32,float16 F16,bfloat16 BF16,int64 I64,int32 I32,int16 I16,"
    kinds += "int8 I8,uint8 U8,bool BOOL,complex64 C64,uint16 U16,float8_e4m3fn F8_E4M3"
    pairs = dict(kind.split() for kind in kinds.split(","))
    header = read(saved({name: torch.zeros(3, 2).to(getattr(torch, name)) for name in pairs}))
    assert {t.name: t.dtype for t in header.tensors} == pairs
    assert all(t.shape == (3, 2) for t in header.tensors)
    assert header.by_name["bfloat16"].nbytes == 12


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_a_state_dict_of_any_protocol_is_read(tiny, protocol):
    model = tiny(tie=False)
    header = read(saved(model.state_dict(), pickle_protocol=protocol))
    assert {t.name: t.shape for t in header.tensors} == {
        name: tuple(value.shape) for name, value in model.state_dict().items()
    }
    assert header.stored_numbers == sum(p.numel() for p in model.parameters()) == 6800


def test_tied_names_share_one_storage_and_count_once(tiny):
    header = read(saved(tiny(tie=True).state_dict()))
    assert header.shared_storage == (("model.embed_tokens.weight", "lm_head.weight"),)
    assert header.stored_numbers == 6000
    assert len(header.tensors) == len(tiny(tie=False).state_dict())


def test_equal_copies_do_not_share(tiny):
    state = tiny(tie=True).state_dict()
    state["lm_head.weight"] = state["lm_head.weight"].clone()
    assert read(saved(state)).shared_storage == ()


def test_parts_of_one_storage_are_not_the_same_numbers():
    whole = torch.arange(12.0)
    header = read(saved({"a": whole[:6].view(3, 2), "b": whole[6:].view(3, 2), "t": whole[:6]}))
    assert header.shared_storage == (("a", "t"),)
    assert header.stored_numbers == 12
    assert header.by_name["b"].offset == header.by_name["a"].offset + 24


def test_the_offset_leads_to_the_numbers():
    content = saved({"a": torch.zeros(100), "b": torch.tensor([0.0, 1.5, 2.5])[1:]})
    b = read(content).by_name["b"]
    assert struct.unpack("<2f", content[b.offset : b.offset + b.nbytes]) == (1.5, 2.5)


def test_numbers_that_lie_apart_have_no_place_of_their_own():
    header = read(saved({"t": torch.zeros(3, 2).T, "r": torch.zeros(1).expand(5)}))
    assert [(t.offset, t.nbytes) for t in header.tensors] == [(None, 24), (None, 4)]
    assert header.stored_numbers == 7


def test_parameters_dicts_in_dicts_and_other_things_are_found_or_passed_over():
    ordered = OrderedDict(w=torch.nn.Parameter(torch.zeros(2)))
    ordered._metadata = {"version": 1}
    state = {"model": ordered, "step": 7, 3: torch.zeros(9), "list": [torch.zeros(9)], "s": {1, 2}}
    assert [t.name for t in read(saved(state)).tensors] == ["model.w"]


def test_a_dict_inside_itself_ends():
    loop = {"w": torch.zeros(2)}
    loop["self"] = loop
    assert [t.name for t in read(saved(loop)).tensors] == ["w"]


class Runs:
    def __init__(self, function, *arguments):
        self.call = function, arguments

    def __reduce__(self):
        return self.call


def test_a_file_that_would_run_code_is_refused_and_nothing_runs(tmp_path):
    victim = tmp_path / "victim"
    content = saved({"w": torch.zeros(2), "x": Runs(victim.write_text, "ran")})
    with pytest.raises(FileRefusal, match=r"builtins.getattr") as refusal:
        read(content)
    assert not victim.exists()
    assert "weights_only" not in str(refusal.value)


def test_a_whole_model_is_refused_by_the_name_of_its_class(tiny):
    with pytest.raises(FileRefusal, match=r"modeling_llama.LlamaForCausalLM"):
        read(saved(tiny(tie=True)))


def test_the_form_before_1_6_has_words_of_its_own():
    content = saved({"w": torch.zeros(2)}, _use_new_zipfile_serialization=False)
    with pytest.raises(FileRefusal, match=r"before version 1.6"):
        read(content)
    with pytest.raises(FileRefusal, match="it is a bare pickle"):
        read(pickle.dumps({"w": [1, 2]}))


def test_a_bare_pickle_that_would_run_code_is_named(tmp_path):
    with pytest.raises(FileRefusal, match="which can run code; nothing was run"):
        read(pickle.dumps(Runs((tmp_path / "victim").write_text, "ran")))
    assert not (tmp_path / "victim").exists()


def test_a_file_cut_short_is_damage():
    content = saved({"w": torch.zeros(1000)})
    for size in (100, 2000, len(content) - 500, len(content) - 1):
        with pytest.raises(FileRefusal, match="directory"):
            read(content[:size])


def test_what_is_no_pytorch_file_is_named():
    with pytest.raises(FileRefusal, match="the download did not finish"):
        read(b"")
    with pytest.raises(FileRefusal, match="Git LFS pointer"):
        read(b"version https://git-lfs.github.com/spec/v1\nsize 5\n")
    with pytest.raises(FileRefusal, match="this is a web page"):
        read(b"<html>")
    with pytest.raises(FileRefusal, match="does not begin like"):
        read(b"hello")
    with pytest.raises(FileRefusal, match=r"without the one data.pkl"):
        read(zipped(b"").replace(b"data.pkl", b"data.txt"))


def test_a_compressed_pickle_is_hostile():
    with pytest.raises(FileRefusal, match="compressed"):
        read(zipped(b"N" * 1000 + b".", compression=zipfile.ZIP_DEFLATED))


def test_a_pickle_and_a_directory_over_the_limit_are_not_read(monkeypatch):
    content = saved({f"w{i}": torch.zeros(1) for i in range(2000)})
    monkeypatch.setattr(pickled, "PROGRAM_LIMIT", 1000)
    with pytest.raises(FileRefusal, match="more than 1,000"):
        read(content)
    monkeypatch.setattr(pickled, "DIRECTORY_LIMIT", 70_000)
    with pytest.raises(FileRefusal, match="more than 70,000"):
        read(content)


def tensor_program(shape="(K\x03K\x02t", stride="(K\x02K\x01t", offset="K\x00", key="0"):
    storage = f"(X\x07\0\0\0storagectorch\nFloatStorage\nX\x01\0\0\0{key}X\x03\0\0\0cpuK\x06tQ"
    build = f"ctorch._utils\n_rebuild_tensor_v2\n({storage}{offset}{shape}{stride}\x89NtR"
    return b"\x80\x02}X\x01\0\0\0w" + build.encode("latin-1") + b"s."


@pytest.mark.parametrize(
    ("change", "refusal"),
    [
        ({"shape": "(J\xfd\xff\xff\xffK\x02t"}, "not one that a model needs"),
        ({"shape": "(K\x03t"}, "not one that a model needs"),
        ({"shape": "N"}, "not one that a model needs"),
        ({"shape": "(\x8a\x09\0\0\0\0\0\0\0\0\x01K\x02t"}, "not one that a model needs"),
        ({"shape": "(J\0\0\0\x7fJ\0\0\0\x7ft", "stride": "(K\0K\0t"}, None),
        ({"shape": "(J\0\0\0\x7fK\x02t"}, "the file is damaged"),
        ({"offset": "K\x01"}, "the file is damaged"),
        ({"offset": "X\x01\0\0\0a"}, "not one that a model needs"),
        ({"key": "9"}, "the file is damaged"),
        ({"key": "/"}, "the file is damaged"),
        ({}, None),
    ],
)
def test_tensors_that_do_not_fit_their_numbers_are_refused(change, refusal):
    content = zipped(tensor_program(**change), [("data/0", bytes(24))])
    if refusal is None:
        assert read(content).stored_numbers <= 6
    else:
        with pytest.raises(FileRefusal, match=refusal):
            read(content)


def test_a_path_reads_as_the_bytes_do(build):
    path = build.bin({"w": torch.zeros(2)})
    assert read_header(path).tensors[0].file == "pytorch_model.bin"


FILE = saved({"E": torch.zeros(3, 2), "b": torch.zeros(2)})


@settings(max_examples=300, deadline=None)
@given(st.integers(0, len(FILE)), st.binary(min_size=1, max_size=9), st.integers(0, len(FILE)))
def test_whatever_the_bytes_there_is_an_answer_or_a_refusal(at, new, cut):
    for content in (FILE[:at] + new + FILE[at + len(new) :], FILE[:cut]):
        try:
            read(content)
        except FileRefusal as refusal:
            assert "\n" not in str(refusal)
