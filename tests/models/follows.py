"""Follows a child that says its id and sleeps for an hour. Started by a test, to be killed."""

from tiedviz.models.child_process import follow

if __name__ == "__main__":
    code = "import os, time; print(os.getpid(), flush=True); time.sleep(3600)"
    follow(["tests.models.said", code], lambda line: print(line, flush=True), lambda: None)
