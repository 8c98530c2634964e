"""Count the files of the source through which a run of `anonymize` passes.

A file counts if one of its functions is called while the command runs. Importing a file, and what
its module level calls, does not count: the number is that of the files to be read by somebody who
wants to follow a run.

    python tools/trace_files.py                                    semantic-microaggregation
    python tools/trace_files.py frequent-queries --list            another method; name the files
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import threading
from inspect import CO_OPTIMIZED
from pathlib import Path
from types import FrameType

import queryveil
from queryveil.cli import main

ROOT = str(Path(queryveil.__file__).parent)


class FileTracer:
    """Collects the files of the package whose functions are called."""

    def __init__(self) -> None:
        self.files: set[str] = set()

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        name = code.co_filename
        if event != "call" or name in self.files or not _is_source(name):
            return
        # The bodies of modules and classes are no functions.
        if code.co_flags & CO_OPTIMIZED and not _is_import(frame):
            self.files.add(name)


def _is_source(name: str) -> bool:
    """Return whether a file is Python of the package: a template is no step of a run."""
    return name.startswith(ROOT) and name.endswith(".py")


def _is_import(frame: FrameType) -> bool:
    """Return whether a function is called by the import of a module of the package."""
    caller = frame.f_back
    while caller is not None:
        code = caller.f_code
        if code.co_name == "<module>" and code.co_filename.startswith(ROOT):
            return True
        caller = caller.f_back
    return False


def run_command(*arguments: str) -> None:
    """Run a command of queryveil in this process."""
    sys.argv = ["queryveil", *arguments]
    try:
        main()
    except SystemExit as stop:
        if stop.code:
            raise


def trace(method: str) -> list[str]:
    """Return the files through which a run passes that anonymizes a synthetic log."""
    with tempfile.TemporaryDirectory() as folder:
        log, out = f"{folder}/log.tsv", f"{folder}/out"
        run_command("synth", "--users", "300", "--out", log, "--quiet")
        tracer = FileTracer()
        threading.setprofile(tracer)
        sys.setprofile(tracer)
        try:
            run_command("anonymize", log, "--method", method, "--out", out, "--quiet")
        finally:
            sys.setprofile(None)
            threading.setprofile(None)
    return sorted(name.removeprefix(f"{ROOT}/") for name in tracer.files)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("method", nargs="?", default="semantic-microaggregation")
    parser.add_argument("--list", action="store_true", help="name the files")
    given = parser.parse_args()
    files = trace(given.method)
    if given.list:
        print("\n".join(files))
    print(f"{len(files)} files")
