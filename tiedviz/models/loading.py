"""Opening a model: the one way to get a live one, checked against what its files hold."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch
import transformers
from transformers import AutoTokenizer, PreTrainedModel

from tiedviz.files.access import identity
from tiedviz.files.bounds import MAX_TENSORS, check_bounds
from tiedviz.files.config import read_config
from tiedviz.files.facts import ModelFacts, gather_facts, read_facts
from tiedviz.files.fit import Fit, fit_of_header, fit_of_report
from tiedviz.files.formats import read_header
from tiedviz.models.building import building, intact, while_built
from tiedviz.models.checkpoint import checked_class, plain_config
from tiedviz.models.loaded import LoadedModel
from tiedviz.models.memory import Placement, place
from tiedviz.models.progress import Report, Stage, silent
from tiedviz.models.sources import (
    find_source,
)
from tiedviz.words.refusals import Refusal
from tiedviz.words.refusals.count import CountRefusal
from tiedviz.words.refusals.opening import CheckpointRefusal, OpeningRefusal

_LOG = logging.getLogger(__name__)


def _plenty(needed: int) -> None:
    """Make room where nothing else is open."""


def load(
    source: str, *, report: Report = silent, make_room: Callable[[int], None] = _plenty
) -> LoadedModel:
    """The model named by `source`, open, in float32.

    Args:
        source: a shelf name, a folder, a `.gguf` file, or a Hub id with an optional @revision.
        report: told of each stage; it may raise to stop the work.
        make_room: told how many bytes are about to be needed, before they are.

    Raises:
        Refusal: with what, why and what to try; every reason has its own class.
    """
    found = find_source(source)
    try:
        folder = found.folder(report)
        return load_folder(
            folder, source=found.text, title=found.title, report=report, make_room=make_room
        )
    except Refusal:
        raise
    except Exception as error:  # a fault of ours or of a library: one line for people
        _LOG.exception("opening %s failed", found.text)
        raise OpeningRefusal.failed(found.title, error) from error


def load_folder(
    folder: Path,
    *,
    source: str,
    title: str,
    report: Report = silent,
    make_room: Callable[[int], None] = _plenty,
) -> LoadedModel:
    """The model in `folder`, open, in float32, checked against what its files hold.

    The tokenizer comes first: where it cannot be read, nobody waits for the weights.

    Raises:
        FileRefusal, CheckpointRefusal: the files, or what they ask for, cannot be opened.
        OpeningRefusal: before any weight is read.
        OpeningRefusal: the library did not build what the files hold.
    """
    facts = read_facts(folder)
    _check_size(folder, title)
    kind = checked_class(folder, title)
    report(Stage("Loading the tokenizer"))
    tokenizer = _tokenizer(folder, title)
    make_room(facts.float32_bytes)  # nobody's model goes for one that cannot be opened
    waiting = Stage("Waiting for another model to finish opening")
    with building(while_waiting=lambda: report(waiting)):
        report(Stage("Loading", 0, facts.float32_bytes, "bytes"))
        placement = place(kind, folder, facts, title)
        with while_built(_limits(facts, title)):
            model, fit = _build(kind, folder, title, placement)
        check_loaded(model, facts, title)
    model.eval().requires_grad_(False)
    return LoadedModel(
        source=source,
        title=title,
        key=f"{identity(folder)}|float32",
        model=model,
        tokenizer=tokenizer,
        dtype="float32",
        folder=folder,
        fit=fit,
        placement=placement.words,
    )


def _check_size(folder: Path, title: str) -> None:
    """Nothing, or a refusal: whoever builds it holds the lock, and a billion blocks take a while.

    Raises:
        OpeningRefusal: a number of config.json is beyond anything real.
    """
    try:
        check_bounds(read_config(folder), title)
    except CountRefusal as refusal:
        raise OpeningRefusal.not_built(title, refusal.why) from refusal


def _limits(facts: ModelFacts, title: str) -> Callable[[int, int], None]:
    """Nothing, or a refusal once more is built than files like these are for.

    Many times what they hold (quantised files hold less, and a head is often left out), or, for
    small files, what no machine would miss.
    """
    most = max(16 * facts.parameters, 200_000_000)

    def check(tensors: int, numbers: int) -> None:
        if tensors > MAX_TENSORS or numbers > most:
            why = "its config.json asks for far more weights than its files hold"
            raise OpeningRefusal.not_built(title, why)

    return check


def _tokenizer(folder: Path, title: str) -> Any:
    try:
        return AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, ImportError) as error:
        missing = not any(folder.glob("tokenizer*")) and not any(folder.glob("*vocab*"))
        raise CheckpointRefusal.no_tokenizer(
            title, "" if missing else _first_line(error)
        ) from error


def _build(
    kind: type[PreTrainedModel], folder: Path, title: str, placement: Placement
) -> tuple[PreTrainedModel, Fit]:
    """The model, and how its files fitted.

    Raises:
        CheckpointRefusal: a parameter would be random, or the library will not read the weights.
    """
    transformers.utils.logging.disable_progress_bar()  # the app reports progress in its own words
    try:
        model, info = kind.from_pretrained(
            folder,
            config=plain_config(kind, folder),
            dtype=torch.float32,
            output_loading_info=True,
            local_files_only=True,
            trust_remote_code=False,
            ignore_mismatched_sizes=True,  # so that they are reported, all of them
            **placement.options,
        )
    except ImportError as error:
        raise CheckpointRefusal.quantised_without_package(
            title, _method(folder), _first_line(error)
        ) from error
    except RuntimeError as error:  # NotImplementedError is one: tied, and of other shapes
        _require(_header_fit(folder), folder, title)
        raise CheckpointRefusal.weights_disagree(title, _first_line(error)) from error
    fit = fit_of_report(
        info, dict(model.named_parameters(remove_duplicate=False)), _tables_of(model)
    )
    _require(fit, folder, title)
    return model, fit


def _require(fit: Fit | None, folder: Path, title: str) -> None:
    if fit is not None and fit.broken:
        refusal = CheckpointRefusal.does_not_fit(title, fit.words, fit.remedy)
        refusal.fit, refusal.of = fit, identity(folder)
        raise refusal


def _header_fit(folder: Path) -> Fit | None:
    header, config = read_header(folder), read_config(folder)
    facts = gather_facts(header, config)
    return fit_of_header(header, config, facts.embedding, facts.head)


def _tables_of(model: PreTrainedModel) -> tuple[str, ...]:
    """All names of the matrices of E and W."""
    sides = (model.get_input_embeddings(), model.get_output_embeddings())
    matrices = {id(getattr(side, "weight", None)) for side in sides if side is not None}
    named = model.named_parameters(remove_duplicate=False)
    return tuple(name for name, parameter in named if id(parameter) in matrices)


def _method(folder: Path) -> str:
    settings = read_config(folder).get("quantization_config")
    return str(settings.get("quant_method")) if isinstance(settings, dict) else "a method"


def _first_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0].rstrip(".")[:300] if lines else type(error).__name__


def check_loaded(model: PreTrainedModel, facts: ModelFacts, title: str) -> None:
    """Nothing, or a refusal where the library left the model or itself in a state it should not.

    Raises:
        OpeningRefusal: numbers lack, one matrix became two, or the library is not as it was.
        CheckpointRefusal: nothing in it scores tokens.
        OpeningRefusal: E or W is not at hand between two calls.
    """
    waiting = _elsewhere(getattr(model, "hf_device_map", {}))
    on_meta = [
        name
        for name, parameter in model.named_parameters()
        if parameter.is_meta and not name.startswith(waiting)
    ]
    if on_meta:
        raise OpeningRefusal.broken_load(
            title, f"{len(on_meta)} parameters got no numbers, first {on_meta[0]}"
        )
    head = model.get_output_embeddings()
    if head is None:
        raise CheckpointRefusal.no_language_model(title, type(model).__name__)
    if any(getattr(side.weight, "is_meta", False) for side in (model.get_input_embeddings(), head)):
        raise OpeningRefusal.table_elsewhere(title)
    declared = bool(getattr(model.config.get_text_config(), "tie_word_embeddings", False))
    one_matrix = facts.head is None and facts.embedding is not None
    if declared and one_matrix and not _is_a_table(head.weight, model):
        raise OpeningRefusal.broken_load(title, "its one stored matrix came back as two")
    if not intact():
        raise OpeningRefusal.broken_load(title, "transformers was left half way through a load")


def _elsewhere(places: Mapping[str, Any]) -> tuple[str, ...]:
    """How the names begin of what accelerate brings in for a call and keeps on meta meanwhile.

    That is what lies on disk, and where there are accelerators what lies in memory.
    """
    kept = {"disk"} if set(places.values()) <= {"cpu", "disk"} else {"cpu", "disk"}
    return tuple(f"{name}." if name else "" for name, place in places.items() if place in kept)


def _is_a_table(matrix: torch.Tensor, model: PreTrainedModel) -> bool:
    """Whether a matrix is one that tokens are read from: E, or a decoder's own table."""
    tables = [m for m in model.modules() if isinstance(m, torch.nn.Embedding)]
    return any(table.weight is matrix for table in (model.get_input_embeddings(), *tables))
