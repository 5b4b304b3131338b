"""Models are built one at a time, and the library is left as it was."""

from __future__ import annotations

import logging
import threading
import time

import pytest
import torch
from transformers import AutoModelForCausalLM, PreTrainedModel

from tiedviz.models.building import building, intact, quiet_library, while_built


@pytest.mark.case(9)
def test_two_threads_that_load_tied_models_at_once_both_get_tied_models(tiny_folder):  # case 9
    folders = [tiny_folder(tied=True, name=f"race{seed}", seed=seed) for seed in range(2)]
    models = []
    start = threading.Barrier(2)

    def work(folder) -> None:
        start.wait()
        for _ in range(4):
            with building():
                model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
            models.append((folder, model))

    threads = [threading.Thread(target=work, args=(folder,)) for folder in folders]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(models) == 8
    for _, model in models:
        assert model.get_output_embeddings().weight is model.get_input_embeddings().weight
        assert not any(parameter.is_meta for parameter in model.parameters())
    by_folder = [
        {id(f): m.get_input_embeddings().weight for f, m in models}[id(f)] for f in folders
    ]
    assert not torch.equal(*by_folder)
    assert intact()


def test_a_method_that_was_exchanged_is_put_back():
    with building():
        PreTrainedModel.tie_weights = lambda self: None
        assert not intact()
    assert intact()


def test_what_somebody_left_before_is_put_back_on_the_way_in():
    PreTrainedModel.tie_weights = lambda self: None
    torch.set_default_dtype(torch.bfloat16)
    assert not intact()
    with building():
        assert intact()


def test_a_spoilt_library_loads_tied_models_again(tiny_folder):
    folder = tiny_folder(tied=True, name="healed")
    PreTrainedModel.tie_weights = lambda self, *args, **kwargs: None
    with building():
        model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    assert model.get_output_embeddings().weight is model.get_input_embeddings().weight


def test_the_default_dtype_is_put_back():
    with building():
        torch.set_default_dtype(torch.bfloat16)
        assert not intact()
    assert torch.zeros(1).dtype is torch.float32
    assert intact()


def test_an_error_while_building_puts_everything_back_and_opens_the_lock():
    with pytest.raises(KeyError), building():
        PreTrainedModel.tie_weights = lambda self: None
        raise KeyError
    assert intact()
    with building():
        pass


def test_one_thread_may_build_within_a_building():
    with building(), building():
        assert intact()


def held(release: threading.Event) -> threading.Thread:
    """Another thread that holds the lock until `release` is set."""
    inside = threading.Event()

    def hold() -> None:
        with building():
            inside.set()
            release.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    inside.wait()
    return thread


def test_whoever_waits_is_asked_again_and_again():
    release = threading.Event()
    thread = held(release)
    asked = []

    def ask() -> None:
        asked.append(time.monotonic())
        if len(asked) == 2:
            release.set()

    with building(while_waiting=ask):
        assert len(asked) >= 2
    thread.join()


def test_whoever_waits_may_give_up():
    release = threading.Event()
    thread = held(release)

    def give_up() -> None:
        raise TimeoutError

    with pytest.raises(TimeoutError), building(while_waiting=give_up):
        pytest.fail("another thread holds the lock")
    release.set()
    thread.join()
    with building():
        pass


def test_what_this_thread_builds_on_the_meta_device_is_counted_as_it_comes():
    seen = []
    with while_built(lambda *counts: seen.append(counts)):
        with torch.device("meta"):
            torch.nn.Linear(3, 4)
        torch.nn.Linear(3, 4)  # with numbers: this is what the files hold
    assert seen == [(1, 12), (2, 16)]
    with torch.device("meta"):
        torch.nn.Linear(3, 4)
    assert len(seen) == 2


def test_a_quiet_library_silences_nobody_else():
    """An opening that fails meanwhile, in another thread, is logged with its traceback."""
    library, ours = logging.getLogger("transformers.x"), logging.getLogger("tiedviz.x")
    with quiet_library():
        assert not library.isEnabledFor(logging.CRITICAL)
        assert ours.isEnabledFor(logging.ERROR)
    assert library.isEnabledFor(logging.ERROR)
