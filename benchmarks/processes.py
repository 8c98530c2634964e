"""Run a piece of a benchmark as a process of its own, so that its memory can be told."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any


def child(script: str, *arguments: str) -> tuple[dict[str, Any], int]:
    """Run a script that prints JSON, and give its findings and its peak in MB."""
    command = [sys.executable, script, *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    text = process.stdout.read()  # type: ignore[union-attr]
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{' '.join(command)} failed")
    return json.loads(text), usage.ru_maxrss // 1024


def answer(known: dict[str, Any], words: list[str]) -> None:
    """Run `task_NAME` with its values, and print what it found, for `child` to read."""
    name, *values = words
    numbers = [int(value) if value.isdigit() else value for value in values]
    print(json.dumps(known[f"task_{name}"](*numbers)))
