"""What the tests of verdicts write, for the installed command."""

from tests.verdict.conftest import write_gguf  # noqa: F401, a fixture
