import pytest


@pytest.fixture
def llama():
    """The configuration T(tied) of the cases: 2 layers of width 16 over 50 rows."""

    def config(tied: bool = True, **changes: object) -> dict[str, object]:
        return {
            "architectures": ["LlamaForCausalLM"],
            "model_type": "llama",
            "vocab_size": 50,
            "hidden_size": 16,
            "intermediate_size": 32,
            "num_hidden_layers": 2,
            "num_attention_heads": 2,
            "num_key_value_heads": 2,
            "max_position_embeddings": 64,
            "tie_word_embeddings": tied,
        } | changes

    return config
