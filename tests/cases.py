"""Each trouble that people really have has a test that carries its number and passes.

The numbers are those of the project's list of troubles, collected from public issue threads; those
that are missing between 1 and 81 were never given. A test of a case builds it small, holds the
right answer, and is marked `@pytest.mark.case(34)`. When the whole suite has run, `conftest` asks
which cases no test stood for.
"""

CASES = {
    *range(1, 13),  # the last state is normed already … bfloat16
    *range(
        14, 22
    ),  # outliers, charts, reruns, models that pile up, scaled rows, long prompts, flags
    *range(23, 28),  # padding, GGUF, contradictions, softcaps, other dtypes
    *range(29, 36),  # T5, biases, masked models, scales, shared memory
    *range(38, 43),  # lost heads, GGUF, resizing
    44,  # meta and offload
    *(47, 48),  # adapters
    *range(51, 58),  # OPT, Mamba, TransformerLens, buffers, pickles, damage
    59,  # remote code
    *range(62, 66),  # quantised, too large, disk full, equal rows
    *range(67, 71),  # anisotropy, neighbours kept, no V × V
    *range(72, 75),  # caches, the file watcher, wrappers
    *(77, 79, 81),  # chat templates, decoders, hostile tokens
}


def cases_of(item):
    """Every number that a test carries."""
    return sorted({number for mark in item.iter_markers("case") for number in mark.args})


class CaseRecord:
    """Which cases were seen, in one run, to have the right answer.

    A test that was skipped (without Chromium, say) counts: that it would pass is seen elsewhere.
    """

    def __init__(self):
        self.held = set()

    def add(self, report):
        """Take in what became of one test; `user_properties` come from xdist's workers too."""
        ended = report.passed if report.when == "call" else report.skipped
        if ended:
            self.held |= set(dict(report.user_properties).get("cases", ()))

    def missing(self):
        """Cases that nothing stood for, in order."""
        return sorted(CASES - self.held)


def is_whole_run(config):
    """Whether all tests of the project were asked for."""
    chosen = ("keyword", "markexpr", "lf", "deselect", "collectonly", "maxfail", "ignore")
    everything = config.args_source == config.ArgsSource.TESTPATHS
    return everything and not any(config.getoption(name, None) for name in chosen)
