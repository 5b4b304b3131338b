import pytest

from tests.verdict.conftest import tiny
from tiedviz.verdict.report import explain_error


@pytest.mark.case(35)
def test_the_real_message_of_safetensors_is_proof_of_tying(tmp_path):  # case 35
    from safetensors.torch import save_file

    with pytest.raises(RuntimeError) as caught:
        save_file(tiny(True).state_dict(), tmp_path / "f")
    found = explain_error(str(caught.value))
    assert found.names == (("lm_head.weight", "model.embed_tokens.weight"),)
    assert "proof of tying" in found.meaning and "save_pretrained" in found.remedy


def test_the_message_of_transformers_is_known_too():
    text = (
        "The weights trying to be saved contained shared tensors [{'a.w', 'b.w'}] which are not "
        "properly defined"
    )
    assert explain_error(text).names == (("a.w", "b.w"),)


@pytest.mark.parametrize("text", ["", "CUDA out of memory", "{'a', 'b'}"])
def test_other_messages_are_not_explained(text):
    assert explain_error(text) is None


def test_a_huge_paste_is_no_matter():
    assert explain_error("Some tensors share memory " + "{" * 100_000) is not None
