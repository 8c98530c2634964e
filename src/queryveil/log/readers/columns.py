"""The mapping of a file's columns to ours: by `columns="user=uid,query=q"` or by usual names.

Usual names are looked up in a header or a schema, which are not rows of users. Two columns, a date
and a time of day, can make one time: `time=Datum+Uhrzeit`. The user can be the name of the file:
`user=@file-name`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from ...errors import ColumnError, UsageError, did_you_mean

FILE_NAME = "@file-name"  # as the column of users: each file is the log of one user
CLOCK = "clock"  # the time of day, where it is apart from the date

_USUAL_NAMES = {
    "user": ("user", "anonid", "user_id", "userid", "uid", "client_id", "visitor_id", "cookie"),
    "query": ("query", "q", "user_query", "search_term", "searchterm", "keywords", "search"),
    "time": ("time", "querytime", "query_time", "timestamp", "datetime", "date", "@timestamp"),
    "rank": ("rank", "itemrank", "item_rank", "position", "click_rank"),
    "url": ("url", "clickurl", "click_url", "clicked_url", "link"),
}
# Further names in headers, German, Spanish, French, Italian, Dutch and Portuguese among them. There
# is no name for a session: a guarantee for one would not be a guarantee for a user.
_HEADER_NAMES = {
    "user": (
        *("username", "customer", "customer_id", "visitor", "client"),
        *("nutzer", "nutzer_id", "nutzerid", "benutzer", "benutzer_id", "benutzername", "kunde"),
        *("kundennummer", "kunden_nr", "kundennr", "kunden_id", "kundenid", "besucher"),
        *("kunden_nummer", "kd_nr", "kdnr", "leser", "leser_nr", "lesernr", "lesernummer"),
        *("usuario", "id_usuario", "usuario_id", "cliente", "id_cliente", "usuário", "utilizador"),
        *("utilisateur", "id_utilisateur", "id_client", "visiteur", "utente", "id_utente"),
        *("gebruiker", "gebruiker_id", "klant", "klantnummer", "bezoeker"),
    ),
    "query": (
        *("search_query", "searchquery", "search_text", "query_text", "keyword"),
        *("suchbegriff", "suchbegriffe", "suchanfrage", "suchwort", "suchtext", "anfrage", "suche"),
        *("consulta", "búsqueda", "busqueda", "término_de_búsqueda", "termo_de_pesquisa"),
        *("requête", "requete", "recherche", "terme_de_recherche", "mots_clés", "ricerca"),
        *("zoekopdracht", "zoekterm", "zoekwoord", "pesquisa"),
    ),
    "time": (
        *("created_at", "event_time", "zeitpunkt", "zeitstempel", "fecha_hora", "fecha_y_hora"),
        *("horodatage", "date_heure", "date_et_heure", "data_ora", "data_hora", "tijdstip"),
        *("datum", "fecha", "zeit", "tijd"),
    ),
    "rank": ("rang", "platz", "posición", "posicion", "posizione", "positie", "posição"),
    "url": ("ziel_url", "geklickte_url", "enlace", "lien"),
}
_ALL_NAMES = {name: (*words, *_HEADER_NAMES[name]) for name, words in _USUAL_NAMES.items()}
# A column of dates beside one of times of day: both make the time. English "time" is not a time of
# day here, since it often has the date too. "data" is a date only beside one.
_DATES = ("datum", "date", "fecha", "data")
_CLOCKS = ("uhrzeit", "zeit", "heure", "hora", "ora", "tijd")
_WORDS = {word for words in _ALL_NAMES.values() for word in words} | set(_CLOCKS)
_AOL_NAMES = {
    "anonid": "AnonID",
    "query": "Query",
    "querytime": "QueryTime",
    "itemrank": "ItemRank",
    "clickurl": "ClickURL",
}
_REQUIRED = ("user", "query")
_TITLE = "if it is a title, delete the lines above the header"


def parse_columns(text: str, known: Iterable[str] = _USUAL_NAMES) -> dict[str, str]:
    """Parse a mapping of our columns to those of a file.

    >>> parse_columns("user=uid, query=q, time=day+hour")
    {'user': 'uid', 'query': 'q', 'time': 'day+hour'}
    """
    mapping: dict[str, str] = {}
    for part in filter(None, (piece.strip() for piece in text.split(","))):
        name, equals, column = (piece.strip() for piece in part.partition("="))
        if not equals or not column:
            raise UsageError(
                f'"{part}" in `columns` is not name=column', hint="write it as user=uid,query=q"
            )
        mapping[name] = column
    return check_columns(mapping, known)


def check_columns(
    mapping: Mapping[str, str | int], known: Iterable[str] = _USUAL_NAMES
) -> dict[str, str]:
    """Return a mapping of our columns to those of a source, with numbers as texts.

    Raises:
        UsageError: One of ours is unknown; the hint has a similar name.
    """
    for name in mapping:
        if name not in known:
            raise UsageError(
                f'"{name}" in `columns` is not a known column', hint=did_you_mean(name, known)
            )
    return {name: str(column) for name, column in mapping.items()}


def usual_header_names() -> dict[str, tuple[str, ...]]:
    """Return the names by which each of our columns is known in a header."""
    return dict(_ALL_NAMES)


def is_user_per_file(columns: Mapping[str, str]) -> bool:
    """Return whether each file is the log of one user, whose name is that of the file."""
    return columns.get("user") == FILE_NAME


def is_header(cells: Iterable[str]) -> bool:
    """Return whether cells are a header: at least two of them are usual names."""
    return sum(_key(cell) in _WORDS for cell in cells) > 1


def names_all(columns: Mapping[str, str], cells: Iterable[str]) -> bool:
    """Return whether cells have all names of a mapping, so that they are its header."""
    present = set(cells)
    wanted = _split_time(list(present), columns)
    return bool(wanted) and all(column in present for column in wanted.values())


def column_numbers(columns: Mapping[str, str]) -> list[str]:
    """Return the numbers of the columns of a file without header, up to the last one in use.

    Empty if the columns are not named by number.

    >>> column_numbers({"user": "1", "query": "4", "time": "2+3"})
    ['1', '2', '3', '4']
    >>> column_numbers({"user": "1", "query": "text"})
    []
    """
    parts = [
        part for column in columns.values() if column != FILE_NAME for part in column.split("+")
    ]
    if not parts or not all(part.isdecimal() for part in parts):
        return []
    return [str(number) for number in range(1, max(map(int, parts)) + 1)]


def match_columns(
    columns: Iterable[str],
    wanted: Mapping[str, str],
    where: Path | str,
    *,
    shown: bool = False,
    delimiter: str | None = None,
) -> dict[str, str]:
    """Return the file's column for each of ours: from `wanted` first, then by usual names.

    A time that consists of two columns is returned as `time`, its date, and `clock`. Error messages
    contain the names only if `shown`, as for the names of a schema: the first line of a text file
    may be the row of a user and not a header. `delimiter` must be named with columns by number.
    """
    names = list(columns)
    chosen = _split_time(names, wanted)
    required: tuple[str, ...] = _REQUIRED
    if is_user_per_file(wanted) and FILE_NAME not in names:
        required = tuple(name for name in _REQUIRED if name != "user")
        chosen.pop("user")
    for name, column in chosen.items():
        if column not in names:
            spelling = did_you_mean(column, names) if shown else "write it as the first line does"
            raise ColumnError(
                f'there is no column "{column}" for {"time" if name == CLOCK else name}',
                where=where,
                hint=f"{spelling} ({_describe_columns(names, shown)})",
            )
    mapping = _usual_columns(names, chosen) | chosen
    if "user" not in required:
        mapping.pop("user", None)
    for name in required:
        if name not in mapping:
            raise ColumnError(
                f"no column is known as the {name}",
                where=where,
                hint=_suggest_mapping(names, mapping, required, shown, delimiter),
            )
    return mapping


def _split_time(names: list[str], wanted: Mapping[str, str]) -> dict[str, str]:
    """Return the mapping with a time of two columns as `time` and `clock`."""
    date, plus, clock = wanted.get("time", "").partition("+")
    if not plus or wanted["time"] in names:
        return dict(wanted)
    return dict(wanted) | {"time": date.strip(), CLOCK: clock.strip()}


def _usual_columns(names: list[str], chosen: Mapping[str, str]) -> dict[str, str]:
    """Return the columns that have usual names, without those that the data owner chose."""
    by_key = {_key(column): column for column in reversed(names)}
    used = set(chosen.values())
    free = {key: column for key, column in by_key.items() if column not in used}
    usual = {
        name: free[word]
        for name, words in _ALL_NAMES.items()
        for word in reversed(words)
        if word in free
    }
    date, clock = (
        next((free[word] for word in words if word in free), None) for words in (_DATES, _CLOCKS)
    )
    is_split = usual.get("time") in (None, date, clock) and "time" not in chosen
    if date is not None and clock is not None and is_split:
        usual |= {"time": date, CLOCK: clock}
    return usual


def _key(cell: str) -> str:
    """Return a name as it is looked up: `Search Term` is `search_term`, `Kd.-Nr.` is `kd_nr`."""
    return re.sub(r"\.?[\s-]+", "_", cell.strip().lower().rstrip(".:"))


def _suggest_mapping(
    names: list[str],
    mapping: Mapping[str, str],
    required: tuple[str, ...],
    shown: bool,
    delimiter: str | None,
) -> str:
    """Return the options to copy, by name and, if there may be no header, by number."""
    if any("\ufffd" in name for name in names):
        return 'the first line is not UTF-8: try `encoding="cp1252"`'
    described = _describe_columns(names, shown)
    if len(names) < len(required) and not shown:
        return f"is this the right `format` and `delimiter`? ({described}); {_TITLE}"
    ours = [*required, "time"]
    if is_header(names):
        missing = ",".join(f"{name}=..." for name in ours if name not in mapping)
        return f'name it as the first line does: `columns="{missing}"` ({described})'
    by_name = ",".join(f"{name}=..." for name in ours)
    numbers = ",".join(f"{name}={at}" for at, name in enumerate(ours[: len(names)], 1))
    by_number = f'; if it is no header but a row, by number: `columns="{numbers}"`'
    by_number += f' `delimiter="{delimiter}"`' if delimiter else ""
    by_number += f"; {_TITLE}"
    return f'name the columns: `columns="{by_name}"` ({described}){"" if shown else by_number}'


def _describe_columns(names: list[str], shown: bool) -> str:
    """Return a description of the columns of a file; only usual names unless `shown`."""
    if shown:
        return f"columns here: {', '.join(names)}"
    known = [cell.strip().lower() for cell in names if _key(cell) in _WORDS]
    usual = f", known are: {', '.join(known)}" if len(known) > 1 else ""
    plural = "" if len(names) == 1 else "s"
    return f"the first line has {len(names):,} column{plural}{usual}"


def describe_mapping(mapping: Mapping[str, str]) -> dict[str, str]:
    """Return a mapping as a data owner would write it.

    >>> describe_mapping({"time": "Datum", "clock": "Uhrzeit"})
    {'time': 'Datum+Uhrzeit'}
    """
    shown = {name: column for name, column in mapping.items() if name != CLOCK}
    return shown | ({"time": f"{mapping['time']}+{mapping[CLOCK]}"} if CLOCK in mapping else {})


def match_keys(wanted: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Return the keys of an object that may have each of our columns, in order of priority.

    JSON lines have no header, and the content of a row must not decide how others are read. So
    the mapping of the data owner counts, and for other columns a fixed list for every object.

    >>> match_keys({"user": "visitor.id", "query": "q"})["user"]
    ('visitor.id',)
    """
    chosen = _split_time([], wanted)
    used = {path.split(".")[0] for path in chosen.values()}
    keys = {
        name: tuple(key for word in words for key in _spellings(word) if key not in used)
        for name, words in _USUAL_NAMES.items()
    }
    keys |= {name: (path,) for name, path in chosen.items()}
    if is_user_per_file(wanted):
        del keys["user"]
    return keys


def _spellings(word: str) -> list[str]:
    """Return a usual name unchanged, in camel case, and as AOL writes it.

    >>> _spellings("user_id"), _spellings("querytime")
    (['user_id', 'userId'], ['querytime', 'QueryTime'])
    """
    camel = re.sub("_([a-z])", lambda match: match[1].upper(), word)
    return list(dict.fromkeys((word, camel, _AOL_NAMES.get(word, word))))
