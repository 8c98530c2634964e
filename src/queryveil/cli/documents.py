"""The documents that commands print with --json and that no other package has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..comparison.result import Comparison
from ..core.parameters import Parameter
from ..core.records import FLAT, Record, Scalar
from ..replication.result import Replication


@dataclass(frozen=True, repr=False)
class PublicKey(Record):
    """The public key of a key pair."""

    shown = ("key",)
    schema_number = 1

    key: str


@dataclass(frozen=True, repr=False)
class SignedRelease(Record):
    """The folder of a release that was signed, and the public key of the signer."""

    shown = ("key",)
    schema_number = 1

    folder: str
    key: str


@dataclass(frozen=True, repr=False)
class PackedRelease(Record):
    """The archive of the public files of a release."""

    shown = ("bytes", "standing")
    schema_number = 1

    archive: str
    bytes: int
    standing: str


@dataclass(frozen=True, repr=False)
class ParameterDescription(Record):
    """A parameter of a method.

    Attributes:
        range: The allowed values, in words.
    """

    shown = ("name", "type", "default")

    name: str
    option: str
    type: str
    default: Scalar
    range: str
    unit: str
    help: str

    @classmethod
    def of(cls, declared: Parameter) -> ParameterDescription:
        """Return the description of a declared parameter."""
        return cls(
            name=declared.name,
            option=declared.option,
            type=declared.type.__name__,
            default=declared.default,
            range=declared.allowed,
            unit=declared.unit,
            help=declared.help,
        )


@dataclass(frozen=True, repr=False)
class MethodDescription(Record):
    """A method: its paper, its guarantee, what it is good for, its engines and its parameters.

    Attributes:
        explained: What the guarantee means for a person, with the default parameters; None if
            nothing is guaranteed.
    """

    shown = ("name", "title")

    name: str
    title: str
    paper: str
    guarantee_summary: str
    explained: str | None
    good_for: str
    engines: tuple[str, ...]
    parameters: tuple[ParameterDescription, ...]


@dataclass(frozen=True, repr=False)
class MethodList(Record):
    """The methods that can be chosen."""

    schema_number = 1

    methods: tuple[MethodDescription, ...]


@dataclass(frozen=True, repr=False)
class FormatDescription(Record):
    """A format of logs.

    Attributes:
        file_names: The names by which it is recognized; empty if it must be named.
        accepts_columns: Whether `columns` names the columns; else they are fixed.
    """

    shown = ("name", "title")

    name: str
    title: str
    file_names: str
    accepts_columns: bool
    engines: tuple[str, ...]


@dataclass(frozen=True, repr=False)
class FormatList(Record):
    """The formats that can be read, and the names of columns that are known in a header."""

    schema_number = 1

    formats: tuple[FormatDescription, ...]
    header_names: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, repr=False)
class MeasureParameter(Record):
    """A parameter of a measure."""

    shown = ("name", "type", "default")

    name: str
    type: str
    default: Scalar
    range: str
    help: str


@dataclass(frozen=True, repr=False)
class MeasureDescription(Record):
    """A measure and its parameters."""

    shown = ("name", "title")

    name: str
    title: str
    description: str
    paper: str
    unit: str
    better: str
    kind: str
    parameters: tuple[MeasureParameter, ...]


@dataclass(frozen=True, repr=False)
class MeasureList(Record):
    """The measures that can be chosen."""

    schema_number = 1

    measures: tuple[MeasureDescription, ...]


@dataclass(frozen=True, repr=False)
class WrittenComparison(Record):
    """A comparison, and the folder into which it was written."""

    schema_number = 1

    folder: str
    comparison: Comparison = field(metadata=FLAT)


@dataclass(frozen=True, repr=False)
class WrittenReplication(Record):
    """The replication of a paper, and the folder into which it was written."""

    schema_number = 1

    folder: str
    replication: Replication = field(metadata=FLAT)
