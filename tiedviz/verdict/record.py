"""An audit as JSON: the keys that the command line promises."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tiedviz.words.refusals.file import printable

if TYPE_CHECKING:
    from tiedviz.files.fit import Fit
    from tiedviz.files.header import StoredTensor
    from tiedviz.verdict.audit import Audit
    from tiedviz.verdict.decide import Costs
    from tiedviz.verdict.witnesses import Declared, Loaded, Stored

_COMPARED = (
    *("same_bytes", "differing_elements", "differing_rows"),
    *("max_abs", "relative_error", "min_row_cosine"),
)
_LOADED = ("same_object", "same_storage", "same_values", "dtype", "on_meta")
_MEASURED = ("formula", "max_abs_error", "tolerance", "reproduced")
_NAME_LIMIT = 1000


def audit_record(audit: Audit) -> dict[str, Any]:
    """The verdict on one model with everything it rests on, from an audit of its files at least."""
    verdict, loaded, measured = audit.verdict, audit.loaded, audit.measured
    assert audit.declared is not None and audit.stored is not None
    return {
        "model": audit.model,
        "verdict": verdict.word,
        "summary": verdict.summary,
        "declared": _declared(audit.declared, loaded),
        "stored": _stored(audit.stored),
        "fit": _fit(audit.fit),
        "loaded": None if loaded is None else _some(loaded, _LOADED),
        "measured": None if measured is None else _some(measured, _MEASURED),
        "groups": [[printable(name) for name in group] for group in verdict.groups],
        "parameters": _parameters(verdict.costs),
        "bytes": {"float32": verdict.costs.total * 4, "bfloat16": verdict.costs.total * 2},
        "advice": verdict.advice,
        "evidence": [row._asdict() for row in verdict.evidence],
        "causes": list(verdict.causes),
        "other_loaders": list(verdict.other_loaders),
        "unheard": list(verdict.unheard),
        "checks": dict(audit.checks),
    }


def _fit(found: Fit | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {
        "source": found.source,
        "fits": not (found.broken or found.left_over),
        "missing": [printable(name) for name in found.missing],
        "unexpected": [printable(name) for name in found.unexpected],
        "mismatched": [
            {
                "name": printable(each.name),
                "stored": list(each.stored),
                "expected": list(each.expected),
            }
            for each in found.mismatched
        ],
        "renamed": [printable(word) for word in found.renamed],
        "blocks": None
        if found.blocks is None
        else {"declared": found.blocks[0], "stored": found.blocks[1]},
        "vocab_size": found.vocab_size,
    }


def _declared(found: Declared, loaded: Loaded | None) -> dict[str, Any]:
    return {
        "raw": [{"path": printable(flag.path), "value": _value(flag.value)} for flag in found.raw],
        "class_default": found.class_default,
        "effective": loaded.effective if loaded else None,
        "governed_by": found.governed_by,
    }


def _value(value: object) -> object:
    """Truth values, null and whole numbers as they are; whatever else stands there as text."""
    return value if isinstance(value, bool | int | None) else printable(json.dumps(value))


def _stored(found: Stored) -> dict[str, Any]:
    return {
        "format": found.format,
        "embedding": _tensor(found.embedding),
        "head": _tensor(found.head),
        "comparison": None if found.comparison is None else _some(found.comparison, _COMPARED),
        "numbers": found.stored_numbers,
    }


def _tensor(found: StoredTensor | None) -> dict[str, Any] | None:
    if found is None:
        return None
    name = printable(found.name, _NAME_LIMIT)
    return {"name": name, "shape": list(found.shape), "dtype": found.dtype}


def _parameters(costs: Costs) -> dict[str, Any]:
    return {
        "total": costs.total,
        "counted_from": costs.counted_from,
        "unpacked_from_bytes": costs.unpacked_bytes,
        "complete": not costs.uncounted,
        "embedding": costs.embedding,
        "head": costs.head,
        "share": costs.share,
        "embedding_share": costs.embedding_share,
        "saved_by_tying": costs.saved_by_tying,
        "added_by_untying": costs.saved_by_tying,
    }


def _some(found: object, keys: tuple[str, ...]) -> dict[str, Any]:
    return {key: getattr(found, key) for key in keys}
