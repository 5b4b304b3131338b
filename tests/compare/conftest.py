from functools import cache

import pytest

from tests.tiny_models import build


@pytest.fixture(scope="session")
def architecture():
    """The tiny model of one architecture: `architecture("gpt2")`."""
    return cache(build)
