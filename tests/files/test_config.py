import json

import pytest
from transformers import (
    AlbertConfig,
    BartConfig,
    GPT2Config,
    LlamaConfig,
    OPTConfig,
    T5Config,
    WhisperConfig,
)

from tiedviz.files.config import (
    Dimensions,
    Flag,
    dimensions,
    parse_config,
    read_config,
    tie_flags,
)
from tiedviz.words.refusals.file import BrokenJson, FileRefusal


def test_the_raw_values_come_back(build):
    assert read_config(build.config(tie_word_embeddings=None, x=[1])) == {
        "tie_word_embeddings": None,
        "x": [1],
    }


def test_a_folder_without_a_config_says_what_it_holds(build):
    build.file("photo.png")
    with pytest.raises(FileRefusal, match=r"holds photo.png"):
        read_config(build.folder)
    build.file("adapter_config.json", b'{"base_model_name_or_path": "org/base"}')
    with pytest.raises(FileRefusal, match="org/base"):
        read_config(build.folder)


def test_a_broken_config_says_where(build):
    build.file("config.json", b'{\n  "vocab_size": 50,\n  "x" 1\n}')
    with pytest.raises(BrokenJson, match=r"config.json: .* line 3, column 7"):
        read_config(build.folder)


def test_a_config_too_deep_or_too_large_is_refused():
    deep = b'{"a":' * 100 + b"1" + b"}" * 100
    with pytest.raises(FileRefusal, match="too deep"):
        parse_config(deep)
    with pytest.raises(FileRefusal, match="are ever read"):
        parse_config(b" " * 10_000_001)


def test_every_flag_is_found_with_its_path_outermost_first():
    config = {
        "text_config": {"tie_word_embeddings": False, "deeper": {"tie_word_embeddings": 1}},
        "tie_word_embeddings": True,
        "parts": [{"tie_word_embeddings": None}],
        "tie_encoder_decoder": True,
    }
    assert tie_flags(config) == (
        Flag("tie_word_embeddings", True),
        Flag("text_config.tie_word_embeddings", False),
        Flag("text_config.deeper.tie_word_embeddings", 1),
        Flag("parts.0.tie_word_embeddings", None),
    )


def test_lfm2_has_a_name_of_its_own_and_gpt2_has_no_flag():
    assert tie_flags({"tie_embedding": True}) == (Flag("tie_embedding", True),)
    assert tie_flags({"n_embd": 768}) == ()


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        (GPT2Config(), Dimensions(50257, 768, 768, 12, 1024)),
        (LlamaConfig(), Dimensions(32000, 4096, 4096, 32, 2048)),
        (OPTConfig(word_embed_proj_dim=512), Dimensions(50272, 768, 512, 12, 2048)),
        (AlbertConfig(), Dimensions(30000, 4096, 128, 12, 512)),
        (T5Config(num_layers=6, num_decoder_layers=4), Dimensions(32128, 512, 512, 4, None)),
        (BartConfig(encoder_layers=3, decoder_layers=5), Dimensions(50265, 1024, 1024, 5, 1024)),
        (WhisperConfig(decoder_layers=2), Dimensions(51865, 384, 384, 2, 448)),
    ],
)
def test_sizes_are_found_under_the_names_of_each_family(config, expected):
    assert dimensions(json.loads(config.to_json_string(use_diff=False))) == expected


def test_the_part_that_writes_text_comes_before_the_outside():
    text = {"vocab_size": 100, "hidden_size": 8, "num_hidden_layers": 2}
    outer = {"vocab_size": 7, "hidden_size": 9, "max_position_embeddings": 50}
    found = dimensions({**outer, "text_config": text, "vision_config": {"hidden_size": 99}})
    assert found == Dimensions(100, 8, 8, 2, 50)
    assert dimensions({"thinker_config": {"text_config": text}}).vocab_size == 100
    assert dimensions({"decoder": text, "encoder": {"vocab_size": 3}}).vocab_size == 100


@pytest.mark.parametrize("value", [None, "50", 50.0, True, -5, 0, [50], {"a": 1}])
def test_what_is_no_size_is_not_taken_for_one(value):
    assert dimensions({"vocab_size": value, "hidden_size": value}) == Dimensions()
