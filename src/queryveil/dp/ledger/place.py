"""Where the ledger of a population lies."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from ...errors import InputError, UsageError

__all__ = ["locate_ledger"]

_FILE = "ledger.db"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


def locate_ledger(dataset: str | None, log_paths: Sequence[Path]) -> Path:
    """Give the file of the ledger; the budget belongs to the population, not to a log's content.

    Without a dataset it is `ledger.db` in the folder of the log. A dataset is a plain name,
    whose ledger lies with the data of the person who runs this, or a folder (with a slash, as
    in `./aol`, so that a name never means another ledger in another place).

    >>> ledger_path(None, [Path("/data/aol/log.tsv"), Path("/data/aol/more.tsv")]).as_posix()
    '/data/aol/ledger.db'
    """
    if dataset is None:
        return _beside(log_paths)
    if "/" in dataset or os.sep in dataset:
        return _of_folder(dataset)
    if not _NAME.fullmatch(dataset):
        raise UsageError(
            f'"{dataset}" is no name of a dataset',
            hint="letters, digits and -_. after a letter or digit, or a folder with its slash",
        )
    return _of_name(dataset)


def _beside(log_paths: Sequence[Path]) -> Path:
    if not log_paths:
        raise UsageError("no log and no dataset was named", hint="name a log, or --dataset NAME")
    # A link to a log elsewhere must not buy a new budget.
    real = [path.resolve() for path in log_paths]
    folders = {path if path.is_dir() else path.parent for path in real}
    if len(folders) > 1:
        names = ", ".join(sorted(map(str, folders)))
        raise UsageError(
            f"the files of this log are in several folders ({names}), so its ledger has no place",
            hint="name the population: --dataset NAME",
        )
    return folders.pop() / _FILE


def _of_folder(dataset: str) -> Path:
    folder = Path(dataset)
    if not folder.is_dir():
        # A misspelt folder must not buy a new budget either.
        what = "this is a file, not a folder" if folder.exists() else "there is no such folder"
        raise InputError(what, where=dataset, hint="--dataset takes a folder that exists or a name")
    return folder.resolve() / _FILE


def _of_name(name: str) -> Path:
    given = Path(os.environ.get("XDG_DATA_HOME", ""))
    # By the XDG rules a relative path counts as none.
    base = given if given.is_absolute() else Path.home() / ".local" / "share"
    return base / "queryveil" / f"{name}.db"
