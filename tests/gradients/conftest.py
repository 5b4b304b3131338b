from functools import cache

import pytest

from tests.tiny_models import build, on_one_core


@pytest.fixture(scope="package", autouse=True)
def one_thread():
    with on_one_core():
        yield


@pytest.fixture(scope="session")
def architecture():
    """The tiny model of one architecture: `architecture("gpt2")`."""
    return cache(build)
