import pytest

from tiedviz.commands.line import main


@pytest.fixture
def command(capfdbinary):
    """Run one command: exit status, standard output, standard error."""

    def run(*arguments):
        capfdbinary.readouterr()
        status = main([str(argument) for argument in arguments])
        out, err = capfdbinary.readouterr()
        return status, out.decode(), err.decode()

    return run
