"""Pages from templates, with their style sheets, scripts and content security policy.

A page is one file that fetches nothing; its policy forbids it. Only the scripts that the page is
built with may run, named by their digests, so that injected text cannot run as a script. Without
scripts, and on paper, a page shows the same content. Templates escape every value.

Jinja2 is imported when the first page is drawn: `import queryveil` stays light.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jinja2 import Environment

PACKAGE = "queryveil.render"
STYLES = ("colors.css", "page.css")
CHART_STYLES = ("chart.css", "legend.css")


def render_page(
    template: str,
    *,
    styles: Sequence[str] = (),
    scripts: Sequence[str] = (),
    package: str = PACKAGE,
    **values: object,
) -> str:
    """Return a page: a template that extends `base.html.j2`, with its styles and scripts.

    Args:
        template: Name of a template of `package`, or of this one.
        styles: Names of style sheets of this package, besides those of all pages.
        scripts: Names of scripts of this package; no others may run.
        package: The package whose folder `templates` is searched first.
        values: The view models that the template draws.
    """
    from markupsafe import Markup  # noqa: PLC0415

    texts = [read_static(name) for name in scripts]
    return render_template(
        template,
        package=package,
        policy=Markup(_policy(texts)),  # noqa: S704 constants and digests
        style=load_styles((*STYLES, *styles)),
        scripts=[Markup(text) for text in texts],  # noqa: S704 package data
        **values,
    )


def render_template(template: str, *, package: str = PACKAGE, **values: object) -> str:
    """Return the text of a template; every value in it is escaped."""
    return environment(package).get_template(template).render(**values)


@cache
def environment(package: str) -> Environment:
    """Return the environment of the templates of a package, which may use those of this one."""
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined  # noqa: PLC0415

    made = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        loader=ChoiceLoader([PackageLoader(name) for name in dict.fromkeys((package, PACKAGE))]),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters["written"] = format_value
    made.filters["sentence"] = format_sentence
    made.tests["numeric"] = _is_numeric
    return made


@cache
def read_static(name: str, package: str = PACKAGE) -> str:
    """Return the text of a style sheet or a script of a package."""
    return (files(package) / "static" / name).read_text("utf-8")


def load_styles(names: Sequence[str], package: str = PACKAGE) -> str:
    """Return style sheets of a package as the content of a `style` element.

    They are marked as not to be escaped.
    """
    from markupsafe import Markup  # noqa: PLC0415

    return Markup("".join(read_static(name, package) for name in names))  # noqa: S704 package data


def content_digest(text: str) -> str:
    """Return the digest by which a policy names a style sheet or a script."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def _policy(scripts: Sequence[str]) -> str:
    allowed = " ".join(map(content_digest, scripts))
    return (
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
        "form-action 'none'" + f"; script-src {allowed}" * bool(scripts)
    )


def format_value(value: object) -> str:
    """Return a value as text: numbers with commas, yes and no.

    >>> format_value(True), format_value(12345), format_value("a<b")
    ('yes', '12,345', 'a<b')
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, (int, float)) else str(value)


def format_sentence(text: str) -> str:
    """Return a statement as a sentence.

    >>> format_sentence("each row is of 5 users")
    'Each row is of 5 users.'
    """
    return f"{text[:1].upper()}{text[1:]}."


def _is_numeric(value: object) -> bool:
    return isinstance(value, (int, float))
