"""The local page: what other web sites, and answers with scripts in them, cannot do to it."""

from __future__ import annotations

import asyncio
import re
from base64 import b64encode
from hashlib import sha256
from typing import Any
from xml.etree import ElementTree

import httpx
import pytest
from small_nodes import QUICK, Node, Result, StubEngine, fresh_home, until

from queryveil.peers.node.engines import DemoSearchEngine
from queryveil.peers.node.exposure import ExposureCounter
from queryveil.peers.node.node import SearchOutcome
from queryveil.peers.node.pages import Pages
from queryveil.peers.node.records import AccountCounts, FriendStatus, NodeStatus
from queryveil.peers.node.state import load_secret, search_key
from queryveil.peers.node.web import make_app
from queryveil.peers.protocol.state import Limits, PeerCounts
from queryveil.render.html import environment

HERE = "http://127.0.0.1:7070"
TYPED = {"Sec-Fetch-Site": "none"}
OWN = {"Sec-Fetch-Site": "same-origin", "Origin": HERE}
PAGES = Pages(7070, "key", "token")
NASTY = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'"


def visited(*requests: tuple[str, str, dict[str, Any]]) -> tuple[list[httpx.Response], Node]:
    """Send requests to the site of a node that has no friends, and give answers and node.

    `{key}` in a path is the key of its search.
    """

    async def visit() -> tuple[list[httpx.Response], Node]:
        node = Node(fresh_home(), StubEngine(), waits=QUICK)
        where = httpx.ASGITransport(app=make_app(node, 7070))
        async with httpx.AsyncClient(transport=where, base_url=HERE) as client:
            answers = []
            for method, path, more in requests:
                last = answers[-1].text if answers else ""
                data = {k: v(last) if callable(v) else v for k, v in more.pop("data", {}).items()}
                whole = path.replace("{key}", search_key(node.home))
                answers.append(await client.request(method, whole, data=data or None, **more))
        await node.stop()
        return answers, node

    return asyncio.run(visit())


def field(name: str) -> Any:
    return lambda page: re.search(rf'name="{name}" value="([^"]*)"', page)[1]


FORM = {"number": field("number"), "text": field("text"), "token": field("token")}


def test_a_typed_search_asks_before_she_submits_it_herself() -> None:
    (asked, done), node = visited(
        ("GET", "/search?key={key}&q=blue+cats", {"headers": TYPED}),
        ("POST", "/submit", {"headers": OWN, "data": FORM}),
    )
    assert asked.status_code == done.status_code == 200
    assert "Submit it myself" in asked.text
    assert "your own account" in done.text
    assert "https://example.org/" in done.text
    assert node._engine.seen == ["blue cats"]


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},  # another port of this machine
        {},
        {"Referer": HERE + "/"},
    ],
    ids=["another site", "another port", "nothing told", "only a referer"],
)
def test_another_site_cannot_search_in_her_name(headers: dict[str, str]) -> None:
    (answer,), node = visited(("GET", "/search?key={key}&q=" + NASTY, {"headers": headers}))
    assert answer.status_code == 403
    assert "<script" not in answer.text
    assert "<img" not in answer.text
    assert node.account.counts().own == 0


def test_another_site_cannot_read_her_page() -> None:
    (answer,), _ = visited(("GET", "/", {"headers": {"Sec-Fetch-Site": "cross-site"}}))
    assert answer.status_code == 403
    assert "exposure" not in answer.text


@pytest.mark.parametrize("host", ["evil.example:7070", "127.0.0.1", "127.0.0.1:7071", ""])
@pytest.mark.parametrize("path", ["/", "/search?key={key}&q=x", "/opensearch.xml"])
def test_a_name_that_leads_here_is_refused(host: str, path: str) -> None:
    """DNS rebinding: the site's own name leads to 127.0.0.1, and is the page's own origin."""
    (answer,), node = visited(("GET", path, {"headers": TYPED | {"Host": host}}))
    assert answer.status_code == 421
    assert node.account.counts().own == 0


BAD_FORMS = {
    "another origin": ({"Origin": "https://evil.example"}, {}),
    "no origin": ({"Origin": ""}, {}),
    "a hidden origin": ({"Origin": "null"}, {}),
    "another site": ({"Sec-Fetch-Site": "cross-site"}, {}),
    "another host": ({"Host": "evil.example:7070", "Origin": "http://evil.example:7070"}, {}),
    "no token": ({}, {"token": ""}),
    "a wrong token": ({}, {"token": "x" * 43}),
    "a strange token": ({}, {"token": "\u00e9"}),
    "a long form": ({}, {"more": "x" * 10_000}),
}


@pytest.mark.parametrize("name", BAD_FORMS)
def test_another_site_cannot_submit(name: str) -> None:
    headers, data = BAD_FORMS[name]
    (_, answer), node = visited(
        ("GET", "/search?key={key}&q=cats", {"headers": TYPED}),
        ("POST", "/submit", {"headers": OWN | headers, "data": FORM | data}),
    )
    assert answer.status_code == 403
    assert node._engine.seen == []


def test_a_get_changes_nothing_and_old_forms_are_over() -> None:
    (_, wrong, _, again), node = visited(
        ("GET", "/search?key={key}&q=cats", {"headers": TYPED}),
        ("GET", "/submit?number=1", {"headers": OWN}),
        ("GET", "/search?key={key}&q=dogs", {"headers": TYPED}),
        ("POST", "/submit", {"headers": OWN, "data": FORM | {"number": "99"}}),
    )
    assert wrong.status_code == 405
    assert "This search has ended" in again.text
    assert node._engine.seen == []


def test_fetching_ahead_sends_no_query() -> None:
    (answer,), node = visited(
        (
            "GET",
            "/search?key={key}&q=cats",
            {"headers": TYPED | {"Sec-Purpose": "prefetch;prerender"}},
        )
    )
    assert answer.status_code == 503
    assert node.account.counts().own == 0


def test_nothing_and_too_much_to_search_for() -> None:
    answers, node = visited(
        ("GET", "/search?key={key}&q=", {"headers": TYPED}),
        ("GET", "/search?key={key}", {"headers": TYPED}),
        ("GET", "/search?key={key}&q=" + "x" * 9000, {"headers": TYPED}),
    )
    assert [one.status_code for one in answers] == [400, 400, 414]
    assert node.account.counts().own == 0


def test_every_page_forbids_scripts_frames_and_traces() -> None:
    answers, _ = visited(
        ("GET", "/", {"headers": TYPED}),
        ("GET", "/search?key={key}&q=x", {"headers": TYPED}),
        ("GET", "/search?key={key}&q=x", {}),
        ("GET", "/opensearch.xml", {}),
    )
    for answer in answers:
        policy = answer.headers["Content-Security-Policy"]
        assert policy.startswith("default-src 'none'; style-src 'sha256-")
        assert "script-src" not in policy
        assert "frame-ancestors 'none'" in policy
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Cache-Control"] == "no-store"
        assert answer.headers["Referrer-Policy"] == "same-origin"
        assert "access-control-allow-origin" not in answer.headers


def test_the_policy_names_the_style_of_the_page() -> None:
    (answer,), _ = visited(("GET", "/", {"headers": TYPED}))
    style = re.search("<style>(.*?)</style>", answer.text, re.DOTALL)[1]
    digest = b64encode(sha256(style.encode()).digest()).decode()
    assert f"style-src 'sha256-{digest}';" in answer.headers["Content-Security-Policy"]
    assert " style=" not in answer.text


def test_the_demo_engine_shows_queries_as_text() -> None:
    async def ask() -> httpx.Response:
        where = httpx.ASGITransport(app=DemoSearchEngine().app())
        async with httpx.AsyncClient(transport=where, base_url=HERE) as client:
            await client.get("/search", params={"q": NASTY})
            return await client.get("/")

    answer = asyncio.run(ask())
    assert "&lt;script&gt;" in answer.text
    assert "<script" not in answer.text
    assert answer.headers["Content-Security-Policy"] == "default-src 'none'"


def test_every_template_of_peers_compiles() -> None:
    templates = environment("queryveil.peers")
    names = templates.list_templates(extensions=["j2"])
    assert {"sweep.html.j2", "node/home.html.j2", "base.html.j2"} <= set(names)
    for name in names:
        templates.get_template(name)


def test_the_description_names_the_search() -> None:
    (answer,), node = visited(("GET", "/opensearch.xml", {}))
    root = ElementTree.fromstring(answer.text)
    (url,) = [one for one in root if one.tag.endswith("Url")]
    key = search_key(node.home)
    assert url.get("template") == f"{HERE}/search?key={key}&q={{searchTerms}}"


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_another_site_does_not_get_the_description_with_its_key(site: str) -> None:
    (answer,), node = visited(("GET", "/opensearch.xml", {"headers": {"Sec-Fetch-Site": site}}))
    assert answer.status_code == 403
    assert search_key(node.home) not in answer.text


LINKS = ["/search?q=stolen", "/search?q=stolen&key=", "/search?q=stolen&key=" + "0" * 32,
         "/search?key=%C3%A9&q=stolen", "/search?key=0&q=stolen&key=0"]  # fmt: skip


@pytest.mark.parametrize("headers", [TYPED, OWN], ids=["a mail's link", "a result's link"])
@pytest.mark.parametrize("path", LINKS, ids=range(len(LINKS)))
def test_a_link_that_reaches_the_page_asks_and_sends_nothing(path: str, headers: Any) -> None:
    """Its headers are those of the owner's own click or typing; it does not have the key."""
    (asked, done), node = visited(
        ("GET", path, {"headers": headers | {"Sec-Fetch-User": "?1"}}),
        ("GET", "/search?key={key}&q=wanted", {"headers": OWN}),  # as the question's form does
    )
    assert asked.status_code == 403
    assert 'id="question"' in asked.text
    assert f'name="key" value="{search_key(node.home)}"' in asked.text
    assert done.status_code == 200
    assert node.account.counts().own == 1


def test_the_search_key_stays_and_is_no_digest_of_a_text() -> None:
    home, other = fresh_home(), fresh_home()
    home.make(), other.make()
    assert search_key(home) == search_key(home) != search_key(other)
    assert len(search_key(home)) == 32
    account = ExposureCounter(load_secret(home))
    account.asked("search")
    assert search_key(home) not in account.state().own


def test_an_answer_with_a_script_is_shown_as_text() -> None:
    outcome = SearchOutcome("answered", 1, (Result(NASTY, "https://x/?a=1&b=2", NASTY),), NASTY)
    page = PAGES.outcome(NASTY, outcome)
    assert "<script" not in page
    assert "<img" not in page
    assert page.count("&lt;script&gt;") == 6  # title twice, box, friend, title, text
    assert 'href="https://x/?a=1&amp;b=2"' in page


def test_the_page_of_the_owner_shows_names_and_texts_as_text() -> None:
    counts = PeerCounts(carried=1, turned_down=2, lost=3, served=4, refused=5)
    friend = FriendStatus(
        name=NASTY, fingerprint="cd" * 32, present=True, trust=0.5, counts=counts
    )  # fmt: skip
    account = AccountCounts(own=2, own_distinct=2, seen=3, seen_distinct=3, seen_own=1)
    status = NodeStatus(
        "ab" * 32, 12.34, account, texts=(NASTY,), friends=(friend,), turned_away=6, shed=7
    )
    page = PAGES.home(status)
    assert "<script" not in page
    assert '<p class="big" id="exposure">12.3%</p>' in page
    assert "7 of your searches were not begun" in page
    assert "<td>50%</td><td>1</td><td>2</td><td>3</td><td>4</td><td>5</td>" in page


def test_a_broken_engine_is_told() -> None:
    assert "did not answer" in PAGES.outcome("cats", SearchOutcome("broken", 1))
    nothing = PAGES.outcome("cats", SearchOutcome("answered", 1, (), "ann"))
    assert "Answered by ann" in nothing
    assert "There are no results" in nothing


class Held(StubEngine):
    """Answers when it is let."""

    def __init__(self) -> None:
        super().__init__()
        self.may = asyncio.Event()

    async def search(self, text: str) -> tuple[Result, ...]:
        self.seen.append(text)
        await self.may.wait()
        return self.results


def test_a_search_without_room_is_told_when_there_is_some() -> None:
    async def visit() -> None:
        engine = Held()
        node = Node(fresh_home(), engine, limits=Limits(own=1, reserved=0))
        where, path = httpx.ASGITransport(app=make_app(node, 7070)), "/search?key={}&q=cats"
        async with httpx.AsyncClient(transport=where, base_url=HERE) as client:
            path = path.format(search_key(node.home))
            page = (await client.get(path, headers=TYPED)).text
            data = {name: find(page) for name, find in FORM.items()}
            own = asyncio.ensure_future(client.post("/submit", headers=OWN, data=data))
            await until(lambda: engine.seen)
            busy = await client.get(path, headers=TYPED)
            assert busy.status_code == 503
            assert busy.headers["Retry-After"] == "1"
            assert "Busy: try again in 1 s" in busy.text
            assert node.account.counts().own == 1  # what was not begun is not counted
            assert node.status().shed == 1
            engine.may.set()
            assert "your own account" in (await own).text
            assert (await client.get(path, headers=TYPED)).status_code == 200
        await node.stop()

    asyncio.run(visit())
