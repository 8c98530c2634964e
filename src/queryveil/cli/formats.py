"""`queryveil formats`: the logs that can be read."""

from __future__ import annotations

from rich.console import Console

from ..log.readers.base import Reader
from ..log.readers.columns import usual_header_names
from ..log.readers.registry import READERS
from .documents import FormatDescription, FormatList
from .help import Application
from .options import screen_options, with_options
from .terminal import Terminal
from .text import format_rows, wrap_text

app = Application()

_RULE = (
    "The name of a file decides its format, or --format does; rows never do. Files may be "
    "compressed: .gz, .zst. Other names of columns: --columns user=uid,query=q,time=ts."
)


@app.command(example="queryveil formats")
@with_options(screen_options)
def formats(screen: Terminal) -> None:
    """List the formats that can be read, and the header names that are known."""
    catalog = FormatList(
        tuple(_describe(reader) for reader in READERS.values()), usual_header_names()
    )
    screen.result(catalog, lambda console: _draw(console, catalog))


def _describe(reader: Reader) -> FormatDescription:
    engines = {"local": reader.read, "spark": reader.spark}
    return FormatDescription(
        name=reader.name,
        title=reader.title,
        file_names=reader.names,
        accepts_columns=reader.accepts_columns,
        engines=tuple(engine for engine, function in engines.items() if function is not None),
    )


def _draw(console: Console, catalog: FormatList) -> None:
    width = min(console.width, 80)
    names = [(column, ", ".join(words)) for column, words in catalog.header_names.items()]
    lines = [
        "Formats:",
        *format_rows([(about.name, _summarize(about)) for about in catalog.formats], width),
        "",
        "Columns, and the names by which a header is understood:",
        *format_rows(names, width),
        "",
        *wrap_text(_RULE, width),
    ]
    for line in lines:
        console.print(line, markup=False, soft_wrap=True)


def _summarize(about: FormatDescription) -> str:
    names = f" Files: {about.file_names}." if about.file_names else " Needs --format."
    only = " On Spark only." if about.engines == ("spark",) else ""
    return f"{about.title}.{names}{only}"
