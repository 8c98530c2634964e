"""The kit of the pages: a policy that lets in nothing else, and texts that stay texts."""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256

import pytest

from queryveil.render.html import SORTING, cell, document, number, pairs, section, sortable


def policy(page: str) -> str:
    return re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)[1]


def test_only_the_scripts_of_the_page_may_run() -> None:
    page = document("t", "<p>b</p>", scripts=(SORTING, "f(1)"))
    digests = [
        b64encode(sha256(script.encode()).digest()).decode()
        for script in re.findall("<script>(.*?)</script>", page, re.DOTALL)
    ]
    assert len(digests) == 2
    allowed = " ".join(f"'sha256-{digest}'" for digest in digests)
    assert f"; script-src {allowed}" in policy(page)
    assert "default-src 'none'" in policy(page)


def test_without_scripts_none_may_run() -> None:
    page = document("t", "<p>b</p>")
    assert "<script" not in page
    assert "script-src" not in policy(page)


@pytest.mark.parametrize("bad", ["<b>", 'x"&', "a'b"])
def test_texts_are_escaped(bad: str) -> None:
    made = [
        document(bad, ""), section(bad, ""), pairs({bad: bad}), cell(bad),
        sortable([(bad, "")], [[cell(bad)]]), number("1", 1, why=bad),
    ]  # fmt: skip
    assert not [one for one in made if bad in re.sub(r"<style>.*?</style>", "", one, flags=16)]


def test_numbers_sort_as_numbers() -> None:
    assert number("1,000", 1000) == '<td class="number" data-value="1000.0">1,000</td>'
    assert number("", None) == '<td class="number" data-value=""></td>'
    table = sortable([("a", ""), ("b", "number")], [[cell("x"), number("1", 1)]])
    assert table.startswith('<div class="wide"><table class="sorts"><thead><tr><th scope="col">a')
