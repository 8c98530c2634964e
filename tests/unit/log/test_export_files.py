"""Logs as shops and libraries export them: German headers, Excel's text formats, no header."""

from __future__ import annotations

import pytest

from queryveil.errors import ColumnError, TooManyRejectedError
from queryveil.log.readers.columns import column_numbers, match_columns, usual_header_names
from queryveil.log.reading import read_log
from queryveil.testing.logs import rows_of

GERMAN = (
    "Kunde;Suchbegriff;Zeitpunkt\r\n"
    "1001;Gr\u00fcne Schuhe;18.11.2026 07:01:22\r\n"
    "1002;\u00d6lfarbe;18.11.2026 07:02\r\n"
    '1003;"Teller; rund";18.11.2026\r\n'
)
ROWS = [
    ("1001", "gr\u00fcne schuhe", "2026-11-18 07:01:22", None, None),
    ("1002", "\u00f6lfarbe", "2026-11-18 07:02:00", None, None),
    ("1003", "teller; rund", "2026-11-18 00:00:00", None, None),
]


@pytest.mark.parametrize(
    ("data", "how"),
    [
        (GERMAN.encode("utf-8-sig"), {}),
        (GERMAN.encode(), {}),
        (GERMAN.encode("utf-16"), {}),
        (GERMAN.encode("cp1252"), {"encoding": "cp1252"}),
        (("sep=;\r\n" + GERMAN).encode("utf-8-sig"), {}),
        (('"sep=;"\r\n\r\n' + GERMAN).encode(), {}),
    ],
    ids=["mark", "plain", "utf-16", "cp1252", "sep", "sep and blank line"],
)
def test_a_german_export_needs_no_options(tmp_path, data, how):
    path = tmp_path / "export.csv"
    path.write_bytes(data)
    log = read_log(path, **how)
    assert list(rows_of(log)) == ROWS
    assert log.sources[0].columns == {"user": "Kunde", "query": "Suchbegriff", "time": "Zeitpunkt"}


def test_unicode_text_of_excel(tmp_path):
    path = tmp_path / "export.txt"
    text = 'Kunde\tSuchbegriff\tZeitpunkt\r\n1001\t"5"" Schrauben"\t18.11.2026 07:01\r\n'
    path.write_bytes(text.encode("utf-16"))
    log = read_log(path, format="tsv", quote='"')
    assert list(rows_of(log)) == [("1001", '5" schrauben', "2026-11-18 07:01:00", None, None)]


def test_the_error_of_a_windows_file_names_its_option(tmp_path, cli):
    path = tmp_path / "export.csv"
    path.write_bytes(GERMAN.encode("cp1252"))
    with pytest.raises(TooManyRejectedError, match="not UTF-8: 2") as caught:
        read_log(path)
    assert '`encoding="cp1252"`' in caught.value.hint
    assert "--encoding cp1252" in cli("profile", path).err


def test_a_header_that_is_not_utf_8(tmp_path):
    path = tmp_path / "export.csv"
    path.write_bytes("utilisateur;requ\u00eate\n7;chats\n".encode("cp1252"))
    with pytest.raises(ColumnError) as caught:
        read_log(path)
    assert '`encoding="cp1252"`' in caught.value.hint
    assert rows_of(read_log(path, encoding="cp1252"))[0][:2] == ("7", "chats")


@pytest.mark.parametrize(
    "header",
    [
        "Kundennummer;Suchanfrage;Datum",
        "usuario;consulta;fecha",
        "Utilisateur;Requ\u00eate;Date",
        "klantnummer;zoekterm;tijdstip",
        "User ID;Search Term;Created-At",
        "client;recherche;horodatage",
        "Kunden-Nr.;Suchbegriff;Datum:",
        "Kd.-Nr.;Suchwort;Zeitpunkt",
        "Leser;Suche;Zeit",
    ],
)
def test_usual_names_of_several_languages(tmp_path, header):
    path = tmp_path / "log.csv"
    path.write_text(f"{header}\n7;cats;18.11.2026\n")
    log = read_log(path)
    assert list(rows_of(log)) == [("7", "cats", "2026-11-18 00:00:00", None, None)]


def test_no_name_means_two_columns():
    names = [word for words in usual_header_names().values() for word in words]
    assert len(names) == len(set(names))
    assert not [name for name in names if "sess" in name or "sitzung" in name]


@pytest.mark.parametrize(
    ("header", "columns"),
    [
        ("Kunde;Suchbegriff;Datum;Uhrzeit", {}),
        ("Kunde;Suchbegriff;Datum;Zeit", {}),
        ("user;query;Data;Ora", {}),
        ("user;query;date;time", {"time": "date+time"}),
        ("user;query;a;b", {"time": "a+b"}),
    ],
)
def test_date_and_time_of_day_in_two_columns(tmp_path, header, columns):
    path = tmp_path / "log.csv"
    path.write_text(f"{header}\n7;cats;18.11.2026;07:01:22\n8;dogs;18.11.2026; \n9;hens;;07:01\n")
    log = read_log(path, columns=columns, max_rejected=1)
    assert list(rows_of(log)) == [
        ("7", "cats", "2026-11-18 07:01:22", None, None),
        ("8", "dogs", "2026-11-18 00:00:00", None, None),
    ]
    assert log.accounting.rejected == {"no time": 1}
    date, clock = header.split(";")[2:]
    assert log.sources[0].columns["time"] == f"{date}+{clock}"


def test_two_columns_of_other_formats(tmp_path):
    lines = tmp_path / "log.jsonl"
    lines.write_text('{"user": "7", "query": "cats", "day": "2026-11-18", "at": "07:01"}\n')
    bare = tmp_path / "bare.csv"
    bare.write_text("7,18/11/2026,07:01,cats\n")
    row = ("7", "cats", "2026-11-18 07:01:00", None, None)
    assert list(rows_of(read_log(lines, columns={"time": "day+at"}))) == [row]
    columns = {"user": "1", "query": "4", "time": "2+3"}
    log = read_log(bare, columns=columns, time_format="%d/%m/%Y %H:%M")
    assert list(rows_of(log)) == [row]


def test_a_date_beside_a_whole_time_is_not_joined():
    names = ["user", "query", "date", "time"]
    assert match_columns(names, {}, "log")["time"] == "time"
    assert "clock" not in match_columns(names, {}, "log")
    assert "clock" not in match_columns(["user", "query", "zeitpunkt", "datum", "uhrzeit"], {}, "l")
    assert "time" not in match_columns(["user", "query", "data"], {}, "log")
    assert match_columns(["user", "query", "a+b"], {"time": "a+b"}, "log")["time"] == "a+b"


def test_column_that_is_missing_in_a_pair():
    with pytest.raises(ColumnError, match='no column "b" for time'):
        match_columns(["user", "query", "a"], {"time": "a+b"}, "log")


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("secret,words,2026-11-18\n", 'columns="user=1,query=2,time=3"`'),
        ("secret;words;2026-11-18\n", 'columns="user=1,query=2,time=3"` `delimiter=";"`'),
        ("secret,words\n", 'columns="user=1,query=2"`'),
        ("secret words\n", "`delimiter`? (the first line has 1 column)"),
        ("secret words\n", "if it is a title, delete the lines above the header"),
    ],
)
def test_a_file_without_header_shows_nothing_of_its_rows(tmp_path, cli, text, hint):
    path = tmp_path / "log.csv"
    path.write_text(text * 3)
    with pytest.raises(ColumnError) as caught:
        read_log(path)
    assert hint in caught.value.hint
    for shown in (str(caught.value), cli("profile", path).err):
        assert "secret" not in shown
        assert "words" not in shown


def test_the_options_that_the_error_names_can_be_copied(tmp_path, cli):
    path = tmp_path / "log.csv"
    path.write_text("7;cats;2026-11-18\n" * 3)
    assert '--columns user=1,query=2,time=3 --delimiter ";"' in cli("profile", path).err
    columns = {"user": "1", "query": "2", "time": "3"}
    assert column_numbers(columns) == ["1", "2", "3"]
    assert read_log(path, columns=columns, delimiter=";").count() == 3


def test_rank_0_of_aol_keeps_the_query_and_drops_the_click(tmp_path):
    path = tmp_path / "user-ct-test-collection-01.txt"
    path.write_text(
        "7\tcats\t2006-03-01 10:00:05\t0\thttp://cats.example\n"
        "7\tdogs\t2006-03-01 10:00:06\t1\thttp://dogs.example\n"
        "7\t-\t2006-03-01 10:00:07\t0\thttp://none.example\n"
        "7\thens\t2006-03-01 10:00:08\t\t\n"
    )
    log = read_log(path)
    assert list(rows_of(log)) == [
        ("7", "cats", "2006-03-01 10:00:05", None, None),
        ("7", "dogs", "2006-03-01 10:00:06", 1, "http://dogs.example"),
        ("7", "hens", "2006-03-01 10:00:08", None, None),
    ]
    assert log.accounting.normalized == {"click with rank 0 removed": 1}
    other = tmp_path / "log.csv"  # where ranks may count from 0, and all would be wrong
    other.write_text("user,query,rank\n7,cats,0\n")
    assert read_log(other, max_rejected=1).accounting.rejected == {"rank below 1": 1}


def test_the_hint_names_what_is_missing_in_a_header(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("Konto;Suchbegriff;Datum\n7;cats;18.11.2026\n")
    with pytest.raises(ColumnError) as caught:
        read_log(path)
    assert caught.value.hint == (
        'name it as the first line does: `columns="user=..."` '
        "(the first line has 3 columns, known are: suchbegriff, datum)"
    )
    with pytest.raises(ColumnError) as caught:
        read_log(path, columns={"user": "konto"})
    assert "as the first line does" in caught.value.hint
    assert "Konto" not in caught.value.hint
    assert rows_of(read_log(path, columns={"user": "Konto"}))[0][:2] == ("7", "cats")
