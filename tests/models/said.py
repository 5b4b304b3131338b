"""Runs the code it is given. Started by the tests, as a child to follow."""

import sys

if __name__ == "__main__":
    sys.stdout.reconfigure(write_through=True)  # type: ignore[union-attr]
    exec(sys.argv[1], {})
