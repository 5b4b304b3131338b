from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType

from tiedviz.files.gguf import GGML_TYPES


def test_the_types_are_those_of_the_gguf_library():
    theirs = {t.value: (t.name, *GGML_QUANT_SIZES[t]) for t in GGMLQuantizationType}
    assert theirs == GGML_TYPES
