"""The interface of taxonomy loaders: each converts one file format into a taxonomy."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...core.progress import Progress
from ...core.records import Json
from ...errors import UsageError, did_you_mean
from ..taxonomy.builder import RepairLog
from ..taxonomy.graph import Taxonomy

# Blocks of texts for the search index: concept numbers, and the text of each.
TextBlocks = Iterator[tuple[Sequence[int], Sequence[str]]]


@dataclass(frozen=True)
class LoadedTaxonomy:
    """The contents of the files.

    Attributes:
        texts: Texts about concepts, for the search index; None if the format has none.
        counts: What was read and left out; complete once `texts` is exhausted.
    """

    taxonomy: Taxonomy
    texts: TextBlocks | None = None
    counts: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class LoaderOption:
    """An option of a loader, which is an option of `taxonomy import` too.

    Attributes:
        default: The value if the option is not used; False makes it a flag of the command.
        parse: Converts the text that a user typed; values of other types are taken as they are.
    """

    name: str
    default: Any
    help: str
    parse: Callable[[str], Any] = str

    @property
    def is_flag(self) -> bool:
        """Whether the option has no value on the command line."""
        return isinstance(self.default, bool)


@dataclass(frozen=True)
class TaxonomyLoader:
    """A file format of taxonomies.

    Attributes:
        extensions: The endings of file names that `open_taxonomy` opens with this loader.
        load: Reads the files: `load(files, repairs, progress, **options)`.
        max_files: The number of files that together hold one taxonomy.
    """

    name: str
    title: str
    extensions: tuple[str, ...]
    load: Callable[..., LoadedTaxonomy]
    options: tuple[LoaderOption, ...] = ()
    max_files: int = 1

    def run(
        self,
        files: Sequence[Path],
        repairs: RepairLog,
        progress: Progress,
        options: Mapping[str, Json] | None = None,
    ) -> LoadedTaxonomy:
        """Load the files; options that are not named have their defaults.

        Raises:
            UsageError: An option is unknown, or the number of files is wrong.
        """
        known = {option.name: option for option in self.options}
        for name in options or {}:
            if name not in known:
                hint = did_you_mean(name, known) if known else "it has no options"
                raise UsageError(f'{self.name} has no option "{name}"', hint=hint)
        if not 0 < len(files) <= self.max_files:
            takes = f"1 or {self.max_files} files" if self.max_files > 1 else "1 file"
            raise UsageError(f"{self.name} takes {takes}, got {len(files)}")
        values = {name: option.default for name, option in known.items()} | dict(options or {})
        parsed = {
            name: known[name].parse(value) if isinstance(value, str) else value
            for name, value in values.items()
        }
        return self.load(files, repairs, progress, **parsed)
