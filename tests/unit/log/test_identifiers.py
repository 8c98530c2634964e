"""Identifiers: what each kind finds and leaves, Luhn, and strings of any sort.

Every identifier here is made up or reserved for examples.
"""

from __future__ import annotations

import json
import subprocess
import sys

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from queryveil.log.identifiers import (
    IDENTIFIER_KINDS,
    flag_identifiers,
    kinds_of,
    kinds_of_urls,
    mask,
    mask_identifiers,
    passes_luhn,
)

FOUND = {
    "email": [
        "jane.doe@mail.example",
        "who is jane_doe99@example.com",
        "jane+spam@sub.example.co.uk inbox",
        "mailto:jane@example.org",
        "<jane@example.net>",
        "o'hara@example.com",
        "j@x.example",
        "http://example.com/?u=jane@example.com",
        "j%40ne@example.com",
        "jané@exämple.example",
    ],
    "phone": [
        "212-555-0123",
        "call (212) 555-0123 now",
        "(212)555-0123",
        "212.555.0123",
        "212 555 0123",
        "212/555-0123",
        "2125550123",
        "who called me 1 800 555 0199",
        "1-212-555-0123",
        "12125550123",
        "+1 212 555 0123",
        "+12125550123",
        "+44 20 7946 0958",
        "+44 (0)20 7946 0958",
        "+61-2-5550-0123",
        "tel:212-555-0123.",
        "90210 212-555-0123",
        "isbn 0306406152 212-555-0123",
        "+61.2.55.50.10.12",
    ],
    "card": [
        "4111 1111 1111 1111",
        "4111-1111-1111-1111",
        "4111111111111111",
        "visa 4222222222222 declined",
        "5555 5555 5555 4444",
        "2223003122003222",
        "378282246310005",
        "3782 822463 10005",
        "3056 930902 5904",
        "6011 1111 1111 1117",
        "3530111333300000",
        "4111 1111 1111 1111 123",
        "4111 1111 1111 1111 12 30",
        "4111 1111 1111 1112 5555 5555 5555 4444",
        "6205 5000 0000 0000 004",
    ],
    "iban": [
        "gb33 bukb 2020 1555 5555 55",
        "gb33bukb20201555555555",
        "de89 3704 0044 0532 0130 00",
        "pay to de89370400440532013000 today",
        "fr14 2004 1010 0505 0001 3m02 606",
        "no9386011117947",
        "nl91-abna-0417-1643-00",
        "mt84 malt 0110 0001 2345 mtlc ast0 01s",
        "DE89370400440532013000",
    ],
    "ssn": [
        "078-05-1120",
        "987-65-4320",
        "987-65-4329",
        "078 05 1120",
        "ssn 987-65-4321",
        "ssn:987-65-4322",
        "987-65-4323 jane",
        "(987-65-4324)",
        "987-65-4325.",
    ],
    "url-token": [
        "site.example/?token=abc123",
        "https://example.com/reset?user=1&access_token=x9",
        "example.com/a;jsessionid=1f2e",
        "www.example.com/index.php?phpsessid=abc",
        "http://example.com/?sid=a1b2c3d4",
        "example.com/cb?code=4fq9zzk1",
        "example.com?api_key=k",
        "example.com:8080/x?password=hunter2",
        "http://192.0.2.1/login?pwd=hunter2",
        "localhost/?auth=qwertyui",
        "https://jane:hunter2@example.com/",
        "example.com/#id_token=ey",
        "example.com/share/1f2e3d4c5b6a79880f1e2d3c4b5a6978",
        "example.com/d?x=1bxi3mvs0xra5nfmdkvbdb9zjgmuuqptlbs74ogve2up",
        "example.com/invite/550e8400-e29b-41d4-a716-446655440000",
    ],
    "ip": [
        "203.0.113.7",
        "whois 198.51.100.23",
        "192.0.2.255",
        "192.0.2.1:8080",
        "http://192.0.2.1/",
        "where is 203.0.113.255.",
        "203.0.113.0/24",
        "192.168.1.1 and 203.0.113.9",
        "172.32.0.1",
    ],
    "street": [
        "123 main st",
        "123 n main st springfield",
        "4521 cherry hill rd",
        "10 elm street",
        "350 5th ave",
        "100 w 42nd st",
        "123 n. main st., springfield",
        "12345 northwest oak blvd",
        "77 maple lane zillow",
        "123 oak drive",
        "directions to 99 sw pine dr",
    ],
    "national-id": [
        "dni 00000001r",
        "x0000001r",
        "aaaaaa00a01a000h",
        "jz 00 00 01 a",
        "bsn 123456782",
        "pesel 00010100008",
        "000101-0008",
        "00.01.01-001.05",
    ],
    "vat": [
        "de100000008",
        "fr66000000018",
        "gb100000034",
        "es00000001r",
        "esx0000001r",
        "esa00000018",
        "it00000010017",
        "ust-id de 100 000 008",
    ],
    "name": [
        "rosalind kowalczyk",
        "Rosalind Kowalczyk",
        "kowalczyk, rosalind",
        "rosalind kowalczyk obituary",
        "phone number of rosalind kowalczyk denver",
        "dr. rosalind kowalczyk",
        "rosalind m. kowalczyk",
        "rosalind\u00a0kowalczyk",
        "abraham lincoln rosalind kowalczyk",
    ],
    "known-name": [
        "abraham lincoln",
        "Abraham Lincoln",
        "abraham lincoln biography",
        "lincoln, abraham",
        "britney spears",
        "britney spears lyrics",
        "john f kennedy",
        "marie curie nobel prize",
    ],
}

LEFT = {
    "email": [
        "@jane",
        "jane@",
        "jane @ home",
        "jane@localhost",
        "a@b",
        "meet @ 5.30",
        "jane at mail.example",
        "example.com",
        "user@.com",
        "3 apples@5.30",
    ],
    "phone": [
        "90210",
        "90210-1234",
        "1998 2024",
        "978-3-16-148410-0",
        "9783161484100",
        "978-2205501230",
        "978 2205501230",
        "isbn 2205501230",
        "isbn-10: 2205501230",
        "0306406152",
        "203.0.113.7",
        "+203.0.113.117",
        "2024-05-01",
        "+2024-05-01",
        "05/01/2024",
        "078-05-1120",
        "987654320",
        "4111 1111 1111 1111",
        "+4111 1111 1111 1111",
        "4111111111111111",
        "3056 930902 5904",
        "3782 822463 10005",
        "112-555-0123",
        "212-155-0123",
        "1125550123",
        "0.2125550123",
        "ab2125550123",
        "example.com/item/2125550123",
        "555-0123",
        "1609459200",
    ],
    "card": [
        "4111 1111 1111 1112",
        "4111111111111112",
        "0000 0000 0000 0000",
        "1111 1111 1111 1117",
        "9999 9999 9999 9995",
        "411111111111",
        "41111111111111111111",
        "x4111111111111111",
        "212-555-0123",
        "9783161484100",
        "4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1",
        "3511 1111 1111 111",
        "",
    ],
    "iban": [
        "gb33bukb20201555555556",
        "gb33 bukb 2020 1555 5555 5",
        "de88370400440532013000",
        "xx33bukb20201555555555",
        "it 10 best hotels in rome for families",
        "no 5 chanel",
        "be 2 gether new cosmetics outlet",
        "windows 10 pl update kb4512345 fails",
        "iban",
    ],
    "ssn": [
        "000-05-1120",
        "666-05-1120",
        "078-00-1120",
        "078-05-0000",
        "078051120",
        "078-05 1120",
        "1078-05-1120",
        "1-078-05-1120",
        "078-05-11201",
        "078-05-1120-3",
        "212-555-0123",
        "2024-05-11",
        "078.05.1120",
    ],
    "url-token": [
        "www.example.com",
        "http://example.com/",
        "example.com/token",
        "token=abc123",
        "what is an api key",
        "example.com/?q=password",
        "example.com/?keyword=shoes",
        "example.com/?code=us",
        "example.com/?sid=42",
        "youtube.example/watch?v=dqw4w9wgxcq",
        "example.com/how-to-bake-sourdough-bread-at-home",
        "example.com/2024/05/01/top-10-cars-of-2024-so-far",
        "and/or",
        "http://www.radio1and2podcasts3.example/",
        "example.com/12345678901234567890",
    ],
    "ip": [
        "192.168.1.1",
        "127.0.0.1",
        "10.0.0.138",
        "172.16.0.1",
        "255.255.255.0",
        "256.1.1.1",
        "1.2.3",
        "1.2.3.4.5",
        "chrome 49.0.2623.112",
        "0.0.0.0",
        "v203.0.113.7",
        "203.0.113.07",
    ],
    "street": [
        "main st",
        "500 gb hard drive",
        "4 wheel drive",
        "500 external hard drive",
        "top 10 hotels bourbon street",
        "100 hotels st louis",
        "123 main",
        "wall street 1987",
        "123456 main st",
        "50 first dates",
        "2024 strategy",
    ],
    "national-id": [
        "dni 00000001s",
        "x0000001s",
        "aaaaaa00a01a000i",
        "gb 00 00 01 a",
        "bsn 123456783",
        "123456782",
        "00010100009",
        "00.01.01-001.06",
    ],
    "vat": [
        "de100000009",
        "fr67000000018",
        "gb100000035",
        "esa00000019",
        "it00000010018",
        "100000008",
        "de 2006",
        "fr 66",
    ],
    "name": [
        "rosalind",
        "kowalczyk",
        "jackson mississippi",
        "virginia beach",
        "calvin klein jeans",
        "rose garden",
        "abraham lincoln",
        "rosalind vs kowalczyk",
        "cheap flights",
    ],
    "known-name": [
        "lincoln",
        "lincoln nebraska",
        "town car",
        "rosalind kowalczyk",
        "johns hopkins university",
        "wells fargo",
        "charles schwab",
        "cheap flights",
    ],
}


def flags(queries: list[str | None]) -> pl.DataFrame:
    return flag_identifiers(pl.Series(queries, dtype=pl.String))


def table(rows: dict[str, list[str]]) -> list[tuple[str, str]]:
    return [(kind, query) for kind, queries in rows.items() for query in queries]


@pytest.mark.parametrize(("kind", "query"), table(FOUND))
def test_finds(kind: str, query: str) -> None:
    assert flags([query])[kind].item() is True


@pytest.mark.parametrize(("kind", "query"), table(LEFT))
def test_leaves(kind: str, query: str) -> None:
    assert flags([query])[kind].item() is False


# Ways to write an identifier that a reader takes in, and a plain pattern does not.
DISGUISED = {
    "email": [
        "JANE@MAIL.EXAMPLE",
        "jane(at)mail.example",
        "jane [at] mail [dot] example",
        "jane {at} mail.example",
        "jane at mail dot com",
        "jane%40mail.example",
        "jane%2540mail.example",
        "jane\uff20mail.example",
        "jane\u200b@mail.example",
        "jane@mail\u3002example",
        "jane @ mail.example",
        "jane@gmail com",
        "jane@gmail,com",
        "jane(a)mail.example",
        "jane&#64;mail.example",
    ],
    "phone": [
        "0044 20 7946 0958",
        "212 - 555 - 0123",
        "212_555_0123",
        "\uff12\uff11\uff12-555-0123",
        "2\u200b12-5\u00ad55-0123",
        "212\u2011555\u20110123",
        "212\u00a0555\u00a00123",
        "\u0662\u0661\u0662-\u0665\u0665\u0665-\u0660\u0661\u0662\u0663",
        "%2B49 30 901820000",
    ],
    "card": [
        "4111\u20111111\u20111111\u20111111",
        "\uff14111111111111111",
        "visa4111111111111111",
        "4111.1111.1111.1111",
        "41111111 11111111",
        "4111_1111_1111_1111",
    ],
    "ssn": [
        "ssn: 078051120",
        "social security number 078051120",
        "078\u201305\u20131120",
        "078%2D05%2D1120",
    ],
}


@pytest.mark.parametrize(("kind", "query"), table(DISGUISED))
def test_finds_what_is_disguised(kind: str, query: str) -> None:
    assert flags([query])[kind].item() is True
    assert IDENTIFIER_KINDS[kinds_of(pl.Series([query]))[0]].name == kind


@pytest.mark.parametrize(
    ("kind", "url"),
    [
        ("email", "http://a.example/?to=Jane%40mail.example"),
        ("email", "mailto:jane@mail.example"),
        ("phone", "http://a.example/search?q=call+212-555-0123"),
        ("iban", "http://bank.example/pay?to=DE89370400440532013000"),
        ("ssn", "http://a.example/078-05-1120"),
        ("url-token", "http://a.example/reset?token=B7"),
        ("url-token", "http://jane:secret@a.example/"),
        ("url-token", "http://a.example/s/3f2a9c81-77aa-4b1c-9d2e-aa12bb34cc56"),
        ("ip", "http://203.0.113.7/"),
        ("street", "http://maps.example/?q=12+main+st"),
    ],
)
def test_finds_in_addresses(kind: str, url: str) -> None:
    assert IDENTIFIER_KINDS[kinds_of_urls(pl.Series([url]))[0]].name in (kind, "email")
    assert kinds_of_urls(pl.Series([url, None])).is_null().to_list() == [False, True]


# What people ask for, with numbers in it: none of it is about a person.
ORDINARY = [
    "24 hour fitness", "7 eleven near me", "1 800 flowers", "windows 10", "iphone 14 pro max",
    "isbn 9780131103627", "9780131103627", "978-0-13-110362-7", "isbn 0-13-110362-8",
    "hp laserjet 4250n", "canon 5d mark iii", "wd40", "rtx 3080 ti", "ps5", "kb4512345", "rfc 2616",
    "2006-03-01", "01/03/2006", "march 1 2006", "2008 olympics", "world war 2", "1984 orwell",
    "90210", "zip code 10001", "80202-1234", "weather 60614", "area code 212", "route 66",
    "boeing 747 400", "f 150 2015", "2004 honda civic ex", "10 downing", "3 doors down",
    "50 cent in da club", "blink 182", "matchbox 20", "maroon 5", "101 dalmatians", "u2",
    "how to tie a tie in 5 minutes", "1 + 1", "2 x 4 lumber", "3.14159265358979", "192.168.1.1",
    "127.0.0.1", "0x80070005", "error 404", "http 500", "401k calculator", "1040 ez form", "w2",
    "ups 1z999aa10123456784", "dewey 025.431", "bible john 3 16", "psalm 23", "10000000 in words",
    "1000000 dollars in euros", "100 mg ibuprofen", "5 ft 10 in cm", "4x4 trucks", "9 11 attacks",
    "at the dot com bubble", "look at this dot", "meet me at noon", "c++ primer 5th edition",
    "who is @ the door", "r&b hits 1999", "5 main dishes", "12 street fighter games", "24/7",
    "www.example.com", "http://www.example.com", "example.com/a/b", "ebay item 110123456789",
    "lottery numbers 4 8 15 16 23 42", "sudoku 17 clues", "100% cotton",
    "0012345678905", "007 2006", "plan (a) or (b)", "social security 2006",
    "50% off", "2% milk", "cotton 600 thread count", "mp3", "h1n1", "covid 19", "b12 5000 mcg",
]  # fmt: skip


def test_ordinary_queries_are_left_alone() -> None:
    found = kinds_of(pl.Series(ORDINARY))
    assert [query for query, kind in zip(ORDINARY, found, strict=True) if kind is not None] == []


ORDINARY_URLS = [
    "http://www.example.com", "http://www.example.com/", "https://shop.example/p/12345?color=red",
    "http://news.example/2006/03/01/story.html", "http://a.example/index.php?id=42&lang=en",
    "http://en.wiki.example/wiki/Route_66", "http://a.example/100%25-cotton", "http://127.0.0.1/",
    "https://video.example/watch?v=dQw4w9WgXcQ", "http://a.example/a-rather-long-title-of-a-page",
]  # fmt: skip


def test_ordinary_addresses_are_left_alone() -> None:
    found = kinds_of_urls(pl.Series(ORDINARY_URLS))
    assert [url for url, kind in zip(ORDINARY_URLS, found, strict=True) if kind is not None] == []


@pytest.mark.parametrize(("kind", "query"), table(FOUND) + table(DISGUISED))
def test_a_masked_text_is_clean_or_still_found(kind: str, query: str) -> None:
    """What masking leaves is looked at again by whoever masks, and no digit of it is left."""
    (masked,) = mask(pl.Series([query]))
    assert not any(sign.isdigit() for sign in masked)
    assert kind != "email" or "jane" not in masked
    assert kind != "name" or "kowalczyk" not in masked


def test_tables_cover_every_kind() -> None:
    names = [kind.name for kind in IDENTIFIER_KINDS]
    assert names == list(FOUND) == list(LEFT)
    assert all(len(rows) >= 8 for rows in [*FOUND.values(), *LEFT.values()])


def test_each_example_is_of_its_kind_only() -> None:
    found = flags([kind.example for kind in IDENTIFIER_KINDS])
    for row, kind in zip(found.iter_rows(named=True), IDENTIFIER_KINDS, strict=True):
        assert [name for name, hit in row.items() if hit] == [kind.name]


def test_rows_keep_their_place() -> None:
    queries = [None, "", "weather", "jane@example.com", "été", "078-05-1120", None]
    found = flags(queries)
    assert found["email"].to_list() == [False, False, False, True, False, False, False]
    assert found["ssn"].to_list() == [False, False, False, False, False, True, False]
    assert found.select(pl.exclude("email", "ssn").any()).row(0) == (False,) * (
        len(IDENTIFIER_KINDS) - 2
    )
    assert found.null_count().row(0) == (0,) * len(IDENTIFIER_KINDS)


@pytest.mark.parametrize("queries", [[], [None], [""]])
def test_nothing_to_find(queries: list[str | None]) -> None:
    found = flags(queries)
    assert found.schema == {kind.name: pl.Boolean for kind in IDENTIFIER_KINDS}
    assert not any(any(row) for row in found.iter_rows())


def slow_luhn(digits: str) -> bool:
    total = 0
    for place, digit in enumerate(reversed(digits)):
        value = int(digit) * (1 + place % 2)
        total += value - 9 if value > 9 else value
    return total % 10 == 0


DIGITS = st.text("0123456789", min_size=13, max_size=19)


@given(st.lists(DIGITS, min_size=1, max_size=20))
def test_luhn_is_the_slow_luhn(numbers: list[str]) -> None:
    fast = pl.DataFrame({"n": numbers}).select(passes_luhn(pl.col("n"))).to_series()
    assert fast.to_list() == [slow_luhn(number) for number in numbers]


@given(st.text("0123456789", min_size=15, max_size=15), st.sampled_from(["", " ", "-"]))
def test_exactly_one_check_digit_makes_a_card(digits: str, gap: str) -> None:
    body = "4" + digits[1:]
    numbers = [body + str(check) for check in range(10)]
    written = [gap.join(n[i : i + 4] for i in range(0, 16, 4)) for n in numbers]
    assert flags([*written])["card"].to_list() == [slow_luhn(n) for n in numbers]


@given(st.lists(st.none() | st.text()))
def test_any_text_gives_booleans(queries: list[str | None]) -> None:
    found = flags(queries)
    assert found.height == len(queries)
    assert found.null_count().sum_horizontal().sum() == 0


PIECES = [
    "a",
    "1",
    "1 ",
    "é1 ",
    "@",
    "a@",
    "a.",
    "1.",
    "4111 ",
    "/a1",
    "=a",
    "isbn1",
    "+1 ",
    "12 a ",
]


# Seconds of a processor, not of the clock: what other programs do does not count.
MEGABYTES = """
import json, resource, sys
import polars as pl
from queryveil.log.identifiers import flag_identifiers, mask_identifiers

resource.setrlimit(resource.RLIMIT_CPU, (120, 120))
for piece in json.loads(sys.argv[1]):
    long = piece * (1_000_000 // len(piece))
    flag_identifiers(pl.Series([long]))
    mask_identifiers(long)
"""


def test_a_megabyte_does_not_blow_up() -> None:
    call = [sys.executable, "-c", MEGABYTES, json.dumps(PIECES)]
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("query", "shown"),
    [
        ("jane.doe@mail.example", "j•••@•••"),
        ("mail jane@example.com now", "mail j•••@••• now"),
        ("call 212-555-0123", "call •••-•••-••••"),
        ("4111 1111 1111 1111", "•••• •••• •••• ••••"),
        ("123 main st springfield", "••• •••• •• springfield"),
        ("site.example/?token=abc&x=1", "site.example/?token=•••&x=•••"),
        ("http://a.example/reset/eyjhbgcioij.eyjzdwiioi.sflkxw", "http://a.example/reset/•••"),
        ("a.example/?pwd=ab;c#d&x", "a.example/?pwd=•••&x"),
        ("https://jane:hunter2@example.com/", "h•••@•••"),
        ("203.0.113.7", "•••.•.•••.•"),
        ("cheap flights", "cheap flights"),
        ("", ""),
    ],
)
def test_redact(query: str, shown: str) -> None:
    assert mask_identifiers(query) == shown


@pytest.mark.parametrize(("kind", "query"), table(FOUND))
def test_redacted_queries_hold_nothing(kind: str, query: str) -> None:
    shown = mask_identifiers(query)
    assert not any(letter.isdigit() for letter in shown)
    # A masked address still shows that its secret was there: "token=•••".
    assert "=•••" in shown or flags([shown])[kind].item() is False
