"""Which few lines mend a checkpoint, and where none do, why not."""

from __future__ import annotations

from tiedviz.verdict.case import Case
from tiedviz.verdict.copies.types import coarser
from tiedviz.verdict.defaults import model_type_of
from tiedviz.verdict.witnesses import Declared, Stored
from tiedviz.verdict.wording.apart import unequal_rows
from tiedviz.verdict.wording.words import Word
from tiedviz.words.refusals.file import printable
from tiedviz.words.repairs import Repair, keep_one_copy, leave_output_out, set_flag

_AUTO = "AutoModelForCausalLM"


def repair_for(word: Word, declared: Declared, stored: Stored) -> Repair | str:
    """Lines for a verdict on files; a sentence where lines would not do; "" where all is whole."""
    if word in ("twin", "near_twin"):
        return _one_copy(word, declared, stored)
    if word == "contradiction":
        return _keep_the_head(declared, stored)
    if word == "broken":
        return _declare_tied(declared, stored)
    return ""


def _one_copy(word: Word, declared: Declared, stored: Stored) -> Repair | str:
    finer = _head_is_finer(stored)
    if stored.format == "gguf":
        return leave_output_out("output.weight" if finer else "token_embd.weight")
    if stored.partner is None or stored.head is None:
        return ""
    if declared.forced and declared.tied is False:
        return (
            f"Keep both copies: of this class {printable(declared.path)} also says whether the "
            "state is scaled before the output matrix, so that setting it changes the logits."
        )
    kind = declared.architecture
    if kind is not None and model_type_of(kind) is None:
        return f"transformers has no {printable(kind)}: save it again with the code that wrote it."
    path = "" if declared.tied else declared.path
    return keep_one_copy(kind or _AUTO, path, equal=word == "twin", head_is_finer=finer)


def _head_is_finer(stored: Stored) -> bool:
    if stored.partner is None or stored.head is None:
        return False
    one, other = stored.partner.dtype, stored.head.dtype
    return one != other and coarser(one, other) == one


def _keep_the_head(declared: Declared, stored: Stored) -> Repair | str:
    if stored.head is None or unequal_rows(Case(declared, stored, None, None)):
        return ""  # the advice says it: one of the two has to be made again
    what = "Keep the stored head: declare the model untied."
    if declared.forced:
        what += " Of this class the flag also says whether the state is scaled before the head."
    return set_flag(declared.path, False, what, "untied")


def _declare_tied(declared: Declared, stored: Stored) -> Repair | str:
    if declared.tied is not False:
        return ""
    if stored.absent:
        return (
            f"The index promises {printable(stored.absent[0])}: fetch the files again, or go back "
            "to a save that holds it."
        )
    if stored.empty:
        return (
            f"{printable(stored.empty[0])} is stored without a number: gather the parts of the "
            "model (DeepSpeed ZeRO-3) and save it again."
        )
    what = "Only if the model was tied: declare it so, and the one table scores again."
    return set_flag(declared.path, True, what, "tied")
