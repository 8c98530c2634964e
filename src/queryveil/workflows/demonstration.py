"""Run all steps on a synthetic log, in under a minute."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

from ..core.progress import NoProgress, Progress
from ..core.records import Record
from ..log.reading import read_log
from ..methods.frequent_queries import FrequentQueries
from ..release.cards import PrivateCard
from ..synthetic.output import SyntheticLogSummary, write_synthetic_log
from .anonymization import anonymize, check_release_output
from .log_profile import LogProfile
from .profiling import profile
from .verification import VerificationReport, verify

_USERS, _N = 2000, 10


@dataclass(frozen=True, repr=False)
class Demonstration(Record):
    """The results of all steps on a synthetic log."""

    shown = ("folder",)
    schema_number = 1

    folder: str
    log: SyntheticLogSummary
    profile: LogProfile
    card: PrivateCard
    verify: VerificationReport


def demo(
    folder: str | Path = "queryveil-demo",
    *,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> Demonstration:
    """Generate a log, profile it, anonymize it and verify the release.

    The release is written to `folder`, the synthetic log into its private folder. An earlier
    demo is replaced; any other release is replaced only with `overwrite`.
    """
    shown, target = progress or NoProgress(), Path(folder)
    overwrite = overwrite or (target / "private" / "log.tsv").exists()
    check_release_output(target, "parquet", overwrite)
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "log.tsv"
        summary = write_synthetic_log(path, users=_USERS, seed=2006, progress=shown)
        log = read_log(path, progress=shown)
        figures = profile(log, progress=shown)
        card = anonymize(log, FrequentQueries(min_users=_N), progress=shown).write(
            target, overwrite=overwrite
        )
        log_path = target / "private" / "log.tsv"
        log_path.write_bytes(path.read_bytes())
        log_path.chmod(0o600)
    verification = verify(target, progress=shown)
    return Demonstration(
        folder=str(target),
        log=replace(summary, out=str(log_path)),
        profile=figures,
        card=card,
        verify=verification,
    )
