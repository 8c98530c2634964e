"""The whole way on a synthetic log, in under a minute."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from ..core.progress import NoProgress, Progress
from ..log.reading import read_log
from ..methods.frequent_queries import FrequentQueries
from ..synthetic.output import write_synthetic_log
from .anonymization import anonymize, check_release_output
from .profiling import profile
from .verification import verify

_USERS, _N = 2000, 10


def demo(
    folder: str | Path = "queryveil-demo", *, force: bool = False, progress: Progress | None = None
) -> dict[str, Any]:
    """Make a log, look at it, protect it and verify the result.

    The release stands in `folder`; the synthetic log is put beside its private files. An
    earlier demo is replaced, any other release only with `force`.
    """
    shown, target = progress or NoProgress(), Path(folder)
    force = force or (target / "private" / "log.tsv").exists()
    check_release_output(target, "parquet", force)
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "log.tsv"
        made = write_synthetic_log(path, users=_USERS, seed=2006, progress=shown)
        log = read_log(path, progress=shown)
        risks = profile(log, progress=shown)
        card = anonymize(log, FrequentQueries(n=_N), progress=shown).write(target, force=force)
        kept = target / "private" / "log.tsv"
        kept.write_bytes(path.read_bytes())
        kept.chmod(0o600)
    proof = verify(target, progress=shown)
    made["out"] = str(kept)
    return {"folder": str(target), "log": made, "profile": risks, "card": card, "verify": proof}
