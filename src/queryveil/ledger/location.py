"""The place of a ledger: beside a log, in a folder, or by the name of a population."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from ..core.arguments import guided
from ..errors import InputError, UsageError
from .ledger import Ledger

_FILE = "ledger.db"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


def locate_ledger(ledger: str | None, log_paths: Sequence[Path]) -> Path:
    """Return the path of the ledger; the budget belongs to the population, not to one log.

    Without a name it is `ledger.db` in the folder of the log. A ledger is either a plain name,
    whose ledger is in the data folder of the account that runs this, or a folder. A folder has a
    slash, as in `./aol`, so that a name means the same ledger in every working directory.

    >>> locate_ledger(None, [Path("/data/aol/log.tsv"), Path("/data/aol/more.tsv")]).as_posix()
    '/data/aol/ledger.db'
    """
    if ledger is None:
        return _locate_beside(log_paths)
    if "/" in ledger or os.sep in ledger:
        return _locate_in_folder(ledger)
    if not _NAME.fullmatch(ledger):
        raise UsageError(
            f'"{ledger}" is not a name of a ledger',
            hint="letters, digits and -_. after a letter or digit, or a folder with its slash",
        )
    return _locate_by_name(ledger)


@guided
def open_ledger(name: str) -> Ledger:
    """Open the ledger that exists for a population, by its name or folder.

    Args:
        name: The name of the population, or the folder of the ledger with its slash.

    Returns:
        The ledger; `entries()`, `spent()` and `remaining()` show what it has.

    Raises:
        InputError: There is no such ledger.

    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> Ledger.open(locate_ledger(folder, [])).close()
    >>> len(open_ledger(folder).entries())
    0
    """
    return Ledger.open(locate_ledger(name, []), create=False)


def _locate_beside(log_paths: Sequence[Path]) -> Path:
    if not log_paths:
        raise UsageError("no log and no ledger was named", hint="name a log, or `ledger=NAME`")
    # A link to a log elsewhere must not start a new budget.
    real = [path.resolve() for path in log_paths]
    folders = {path if path.is_dir() else path.parent for path in real}
    if len(folders) > 1:
        names = ", ".join(sorted(map(str, folders)))
        raise UsageError(
            f"the files of this log are in several folders ({names}), so its ledger has no place",
            hint="name the population: `ledger=NAME`",
        )
    return folders.pop() / _FILE


def _locate_in_folder(ledger: str) -> Path:
    folder = Path(ledger)
    if not folder.is_dir():
        # A misspelled folder must not start a new budget either.
        what = "this is a file, not a folder" if folder.exists() else "there is no such folder"
        raise InputError(what, where=ledger, hint="`ledger` takes a folder that exists or a name")
    return folder.resolve() / _FILE


def _locate_by_name(name: str) -> Path:
    configured = Path(os.environ.get("XDG_DATA_HOME", ""))
    # The XDG specification says that a relative path is to be ignored.
    base = configured if configured.is_absolute() else Path.home() / ".local" / "share"
    return base / "queryveil" / f"{name}.db"
