"""Pages: a policy that lets in nothing else, values that stay text, and names that must exist."""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256
from importlib.resources import files

import pytest
from jinja2 import ChoiceLoader, DictLoader, UndefinedError

from queryveil.render.html import PACKAGE, environment, read_static, render_page
from queryveil.render.tables import Cell, Column, SortableTable, number_cell

TEMPLATES = environment(PACKAGE)
PAGE = """{% extends "base.html.j2" %}{% block title %}{{ title }}{% endblock %}
{% block content %}{{ body }}{% endblock %}"""


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch):
    """Return a function that renders a page of a title and a body."""
    loader = ChoiceLoader([DictLoader({"any": PAGE}), TEMPLATES.loader])
    monkeypatch.setattr(TEMPLATES, "loader", loader)
    return lambda title="t", body="b", **more: render_page("any", title=title, body=body, **more)


def policy(page: str) -> str:
    return re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)[1]


def drawn(macro: str, **values: object) -> str:
    text = f'{{% import "_parts.html.j2" as parts %}}{{{{ parts.{macro} }}}}'
    return TEMPLATES.from_string(text).render(**values)


def test_only_the_scripts_of_the_page_may_run(page) -> None:
    text = page(scripts=("sort.js", "frontier.js"))
    scripts = re.findall("<script>(.*?)</script>", text, re.DOTALL)
    assert scripts == [read_static("sort.js"), read_static("frontier.js")]
    digests = [b64encode(sha256(script.encode()).digest()).decode() for script in scripts]
    allowed = " ".join(f"'sha256-{digest}'" for digest in digests)
    assert policy(text) == (
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
        f"form-action 'none'; script-src {allowed}"
    )


def test_without_scripts_none_may_run(page) -> None:
    text = page()
    assert "<script" not in text
    assert "script-src" not in policy(text)
    assert "default-src 'none'" in policy(text)


@pytest.mark.parametrize("bad", ["<b>", 'x"&', "a'b"])
def test_texts_are_escaped(bad: str, page) -> None:
    table = SortableTable(
        (Column(bad),), ((Cell(bad, note=bad, tooltip=bad), number_cell(bad, 1, note=bad)),)
    )
    made = [
        page(bad, bad), drawn("pairs({bad: bad})", bad=bad), drawn("listed([bad])", bad=bad),
        drawn("sortable(table)", table=table),
    ]  # fmt: skip
    for text in made:
        assert bad not in re.sub(r"<style>.*?</style>", "", text, flags=re.DOTALL)


def test_numbers_sort_as_numbers() -> None:
    cells = {
        number_cell("1,000", 1000): '<td class="number" data-value="1000.0">1,000</td>',
        number_cell("", None): '<td class="number" data-value=""></td>',
        number_cell("1", 1, note="(0 to 2)"):
            '<td class="number" data-value="1.0">1 <span class="soft">(0 to 2)</span></td>',
    }  # fmt: skip
    for cell, text in cells.items():
        assert drawn("one_cell(cell)", cell=cell) == text
    table = SortableTable((Column("a"), Column("b", "number")), ((Cell("x"), number_cell("1", 1)),))
    text = drawn("sortable(table)", table=table)
    assert '<table class="sorts"><thead><tr><th scope="col">a</th><th scope="col" class="' in text


def test_a_name_that_does_not_exist_is_an_error(page) -> None:
    with pytest.raises(UndefinedError):
        TEMPLATES.from_string("{{ nothing }}").render()
    with pytest.raises(UndefinedError):
        TEMPLATES.from_string("{{ card.nothing }}").render(card=Cell("x"))


def test_no_style_sheet_fetches_anything_or_ends_its_element() -> None:
    for one in (files("queryveil.render") / "static").iterdir():
        text = one.read_text("utf-8")
        assert not re.search(r"https?:|@import|url\(|</|<!--", text), one.name


def test_every_template_compiles() -> None:
    names = TEMPLATES.list_templates(extensions=["j2"])
    assert "base.html.j2" in names
    for name in names:
        TEMPLATES.get_template(name)


SOURCE = files("queryveil")
MARKUP = re.compile(r"</?(?:p|div|table|t[dhr]|svg|g|[uo]l|li|span|section|h[12]|style)[ >]")


def modules(folder=SOURCE):
    """Yield the text of every module that draws, or could."""
    for one in folder.iterdir():
        if one.is_dir() and one.name != "testing":
            yield from modules(one)
        elif one.name.endswith(".py"):
            yield one.name, one.read_text("utf-8")


def test_no_module_has_markup_or_escapes_it() -> None:
    """Templates draw pages: one that is drawn elsewhere would need an escape for every value."""
    texts = list(modules())
    assert len(texts) > 100
    assert [name for name, text in texts if MARKUP.search(text)] == []
    assert [name for name, text in texts if "from html import escape" in text] == []
