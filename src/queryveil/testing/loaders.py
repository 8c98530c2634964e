"""The kit for taxonomy loaders: samples become sound taxonomies, and damage is explained."""

from __future__ import annotations

import gzip
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from ..concepts.loaders.base import TaxonomyLoader
from ..concepts.loaders.registry import TAXONOMY_LOADERS, open_taxonomy
from ..concepts.taxonomy.builder import RepairLog
from ..concepts.taxonomy.graph import Taxonomy
from ..concepts.taxonomy.validation import check_taxonomy
from ..core.progress import NoProgress
from ..core.records import Json
from ..errors import QueryveilError
from .checks import KitCheck, require, run_checks


@dataclass(frozen=True)
class TaxonomySample:
    """Files of the format and what they hold.

    Attributes:
        files: The content of each file by its name, in the order in which the loader takes them.
        parents: The labels of the parents of concepts, by label: `{"tennis": {"sport"}}`.
        damaged: Contents of the first file that cannot be loaded without repairs.
        options: Options of the loader.
    """

    files: Mapping[str, str]
    parents: Mapping[str, set[str]]
    damaged: Sequence[str | bytes] = field(default=(), repr=False)
    options: Mapping[str, Json] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The name of the first file."""
        return next(iter(self.files))


def check_taxonomy_loader(loader: TaxonomyLoader, samples: Sequence[TaxonomySample]) -> None:
    """Check a taxonomy loader; raise KitFailure with every check that it fails."""
    run_checks(f"the taxonomy loader {loader.name}", taxonomy_loader_checks(loader, samples))


def taxonomy_loader_checks(
    loader: TaxonomyLoader, samples: Sequence[TaxonomySample]
) -> list[KitCheck]:
    """Return the checks of `check_taxonomy_loader`, for `pytest.mark.parametrize`."""
    checks: dict[str, Callable[[], None]] = {"is described": lambda: _is_described(loader, samples)}
    for sample in samples:
        checks[f"loads {sample.name}"] = partial(_loads, loader, sample)
        checks[f"makes a sound taxonomy of {sample.name}"] = partial(_is_sound, loader, sample)
        checks[f"resolves the labels of {sample.name}"] = partial(_resolves, loader, sample)
        checks[f"writes {sample.name} as .qvt"] = partial(_writes, loader, sample)
        checks[f"reads {sample.name} compressed"] = partial(_reads_compressed, loader, sample)
        checks[f"explains damage of {sample.name}"] = partial(_explains_damage, loader, sample)
        if loader.extensions and not sample.options:
            checks[f"opens {sample.name} by its name"] = partial(_opens, loader, sample)
    return [KitCheck(name, run) for name, run in checks.items()]


def _is_described(loader: TaxonomyLoader, samples: Sequence[TaxonomySample]) -> None:
    require(loader.name and loader.title, "a loader needs a name and a title")
    wrong = [ending for ending in loader.extensions if not ending.startswith(".")]
    require(not wrong, f"extensions begin with a point: {', '.join(wrong)}")
    require(all(option.help for option in loader.options), "an option has no help text")
    require(samples, "pass at least one TaxonomySample")
    require(any(sample.parents for sample in samples), "no sample says what it holds")


def _write(folder: str, files: Mapping[str, str | bytes]) -> list[Path]:
    paths = []
    for name, content in files.items():
        paths.append(Path(folder) / name)
        paths[-1].write_bytes(content.encode() if isinstance(content, str) else content)
    return paths


def _load(
    loader: TaxonomyLoader, sample: TaxonomySample, files: Mapping[str, str | bytes]
) -> Taxonomy:
    with tempfile.TemporaryDirectory() as folder:
        paths = _write(folder, files)
        loaded = loader.run(paths, RepairLog(paths[0]), NoProgress(), sample.options)
        for concepts, texts in loaded.texts or ():
            require(len(concepts) == len(texts), "a block has more texts than concepts")
            inside = all(0 <= concept < len(loaded.taxonomy) for concept in concepts)
            require(inside, "a text belongs to a concept that the taxonomy does not have")
        return loaded.taxonomy


def _loads(loader: TaxonomyLoader, sample: TaxonomySample) -> None:
    taxonomy = _load(loader, sample, sample.files)
    require(len(taxonomy) > 0, "the taxonomy has no concept")


def _is_sound(loader: TaxonomyLoader, sample: TaxonomySample) -> None:
    """Check that it is rooted and acyclic, and that its arrays are consistent."""
    findings = check_taxonomy(_load(loader, sample, sample.files))
    failed = [_message(finding) for finding in findings if not _holds(finding)]
    require(not failed, "; ".join(failed))


def _holds(finding: Any) -> bool:
    return bool(finding["holds"] if isinstance(finding, dict) else finding.holds)


def _message(finding: Any) -> str:
    return str(finding["message"] if isinstance(finding, dict) else finding.message)


def _resolves(loader: TaxonomyLoader, sample: TaxonomySample) -> None:
    taxonomy = _load(loader, sample, sample.files)
    for label, parents in sample.parents.items():
        concepts = taxonomy.lookup(label)
        require(len(concepts) > 0, f'no concept has the label "{label}"')
        parent_labels = {
            taxonomy.label(int(parent))
            for concept in concepts
            for parent in taxonomy.parents[int(concept)]
        }
        require(
            parents <= parent_labels,
            f'the parents of "{label}" are {sorted(parent_labels)}, not {sorted(parents)}',
        )


def _writes(loader: TaxonomyLoader, sample: TaxonomySample) -> None:
    taxonomy = _load(loader, sample, sample.files)
    with tempfile.TemporaryDirectory() as folder:
        taxonomy.write(Path(folder) / "copy.qvt")
        copy = Taxonomy.open(Path(folder) / "copy.qvt")
        require(len(copy) == len(taxonomy), "the written taxonomy has another number of concepts")
        for concept in range(len(taxonomy)):
            same = (
                copy.name(concept) == taxonomy.name(concept)
                and copy.labels_of(concept) == taxonomy.labels_of(concept)
                and [*copy.parents[concept]] == [*taxonomy.parents[concept]]
            )
            require(same, f"concept {concept} is another one in the written taxonomy")


def _reads_compressed(loader: TaxonomyLoader, sample: TaxonomySample) -> None:
    packed = {f"{name}.gz": gzip.compress(text.encode()) for name, text in sample.files.items()}
    plain, same = _load(loader, sample, sample.files), _load(loader, sample, packed)
    require(
        [plain.name(c) for c in range(len(plain))] == [same.name(c) for c in range(len(same))],
        "a compressed file gives another taxonomy: open files with `log.readers.source.TextFile`",
    )


def _explains_damage(loader: TaxonomyLoader, sample: TaxonomySample) -> None:
    """Check that files that cannot be loaded raise an error of queryveil, and no other."""
    text = next(iter(sample.files.values())).encode()
    for content in (b"", text[: len(text) // 2], b"\x00\xff" * 100):
        try:
            _load(loader, sample, dict(sample.files) | {sample.name: content})
        except QueryveilError as error:
            require(str(error).strip(), f"it raises {type(error).__name__} without a message")
    for damaged in sample.damaged:
        try:
            _load(loader, sample, dict(sample.files) | {sample.name: damaged})
        except QueryveilError as error:
            require(str(error).strip(), f"it raises {type(error).__name__} without a message")
        else:
            require(False, f"it loads a damaged file without an error: {damaged[:60]!r}")


def _opens(loader: TaxonomyLoader, sample: TaxonomySample) -> None:
    with tempfile.TemporaryDirectory() as folder, _known(loader):
        paths = _write(folder, sample.files)
        if not {suffix.lower() for suffix in paths[0].suffixes} & {*loader.extensions}:
            return
        taxonomy = open_taxonomy(paths[0])
        require(len(taxonomy) > 0, "`open_taxonomy` finds no concept")


def _known(loader: TaxonomyLoader) -> AbstractContextManager[None]:
    if TAXONOMY_LOADERS.get(loader.name) is loader:
        return nullcontext()
    return TAXONOMY_LOADERS.adding(loader.name, loader)
