"""Three nodes, started by the commands of their page, and a search in a real browser."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
import warnings
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from queryveil.cli.app import app
from queryveil.cli.plugins import add_commands

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
BROWSER = next(filter(None, map(shutil.which, BROWSERS)), None)
pytestmark = pytest.mark.skipif(
    BROWSER is None,
    reason=f"NO BROWSER: a typed search is not tested (none of {', '.join(BROWSERS)})",
)
ROOT = Path(__file__).parents[2]
PORTS = ("7001", "7002", "7003", "7101", "7102", "7103", "8888")


def fetched(address: str) -> str:
    asked = urllib.request.Request(address, headers={"Sec-Fetch-Site": "none"})
    with urllib.request.urlopen(asked, timeout=60) as answer:
        return answer.read().decode()


def free_ports() -> dict[str, str]:
    doors = [socket.create_server(("127.0.0.1", 0)) for _ in PORTS]
    found = dict(zip(PORTS, (str(door.getsockname()[1]) for door in doors), strict=True))
    for door in doors:
        door.close()
    return found


def commands() -> str:
    text = (ROOT / "docs/how-to/peers-node.md").read_text("utf-8")
    (found,) = re.findall(r"^```console\n(queryveil peers node invite.*?)^```", text, re.M | re.S)
    return found


def lines(ports: dict[str, str]) -> list[str]:
    """Give the commands of the page, with ports that are free here."""
    found = commands()
    for port, free in ports.items():
        found = found.replace(f":{port}", f":{free}").replace(f"--port {port}", f"--port {free}")
    return [line for line in found.splitlines() if line]


def run_here(line: str) -> None:
    """Run a short command in this process: Python's start takes longer than all of them."""
    command, _, target = line.partition(" > ")
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        add_commands(app)
        app(shlex.split(command)[1:], standalone_mode=False)
    if target:
        Path(target).write_text(out.getvalue())


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Run the commands, wait until all have found each other, and give their ports."""
    folder, ports = tmp_path_factory.mktemp("nodes"), free_ports()
    started: list[subprocess.Popen[bytes]] = []
    with contextlib.chdir(folder), (folder / "log").open("wb") as log, warnings.catch_warnings():
        try:
            for line in lines(ports):
                if line.endswith("&"):
                    words = [sys.executable, "-m", *shlex.split(line[:-1])]
                    started.append(subprocess.Popen(words, stdout=log, stderr=log))
                else:
                    run_here(line)
            assert len(started) == 4
            wait_until_whole(ports, started, folder / "log")
            yield ports
        finally:
            for one in started:
                one.terminate()
            codes = [one.wait(timeout=600) for one in started]
    assert codes == [0] * 4, (folder / "log").read_text()


def wait_until_whole(
    ports: dict[str, str], started: list[subprocess.Popen[bytes]], log: Path
) -> None:
    end = time.monotonic() + 600  # on a busy machine
    left = ["7001", "7002", "7003"]
    while left and time.monotonic() < end:
        assert all(one.poll() is None for one in started), log.read_text()
        try:
            page = fetched(f"http://127.0.0.1:{ports[left[0]]}/")
        except OSError:
            page = ""
        if page.count("<td>yes</td>") == 2:
            left.pop(0)
        else:
            time.sleep(0.1)
    assert not left, log.read_text()


def seen(ports: dict[str, str]) -> list[dict[str, str]]:
    return json.loads(fetched(f"http://127.0.0.1:{ports['8888']}/seen"))["seen"]


def search_address(port: str, text: str) -> str:
    """Give the address that a browser's own entry for the search has, with a text."""
    entry = re.search(r'id="entry">(.*?)%s<', fetched(f"http://127.0.0.1:{port}/"))[1]
    return unescape(entry) + quote(text)


def browsed(address: str, folder: Path, *more: str) -> str:
    """Open an address as if it were typed, and give the page as the browser has it then.

    On a busy machine the browser may end before it has one: then it is asked again.
    """
    for turn in range(3):
        done = subprocess.run(
            [BROWSER, "--headless=new", "--no-sandbox", "--disable-gpu",
             f"--user-data-dir={folder / f'profile{turn}'}", *more, "--dump-dom", address],
            capture_output=True, text=True, timeout=600, check=True,
            env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
        )  # fmt: skip
        if done.stdout.strip():
            break
    return done.stdout


def test_a_typed_search_is_answered(network: dict[str, str], tmp_path: Path) -> None:
    home = f"http://127.0.0.1:{network['7001']}"
    page = browsed(search_address(network["7001"], "blue cats"), tmp_path)
    assert "blue cats: an introduction" in page
    assert 'href="https://example.org/blue%20cats/1"' in page
    hers: list[Any] = [one for one in seen(network) if one["query"] == "blue cats"]
    assert len(hers) == 1  # submitted once, under one of the three accounts
    assert hers[0]["account"] in ("ann", "bob", "cleo")
    by = re.search(r"Answered by (.*?)\.", page)[1]
    if by == "your own account":  # else it may have come back to her on its way
        assert hers[0]["account"] == "ann"
    own = browsed(f"{home}/", tmp_path)
    assert re.search(r'id="exposure">[\d.]+%', own)


def test_a_script_in_an_answer_stays_text(network: dict[str, str], tmp_path: Path) -> None:
    """The toy engine puts the query into its results, as a hostile page might."""
    nasty = '<script>document.title="hacked"</script><img src=x onerror="document.title=1">'
    page = browsed(search_address(network["7002"], nasty), tmp_path)
    assert "<script" not in page
    assert "<img" not in page
    assert unescape(re.search(r"<title>(.*?)</title>", page, re.S)[1]) == nasty
    assert page.count("an introduction") == 1


def test_another_site_cannot_search(network: dict[str, str], tmp_path: Path) -> None:
    """A page of another origin tries by picture, script, frame and form."""
    port = network["7003"]
    target = f"http://127.0.0.1:{port}/search?q=stolen"
    evil = tmp_path / "evil.html"
    evil.write_text(f"""<!doctype html><img src="{target}1"><iframe src="{target}2"></iframe>
      <script>fetch("{target}3", {{mode: "no-cors"}}).catch(() => 0);</script>
      <form id="f" method="post" action="http://127.0.0.1:{port}/submit">
      <input name="number" value="1"></form><script>setTimeout(() => f.submit(), 300)</script>""")
    page = browsed(evil.as_uri(), tmp_path, "--virtual-time-budget=3000")
    assert "not of this page" in page  # its form came through, and was refused
    linked = browsed(search_address(port, "wanted"), tmp_path)  # it is up and serves
    assert "wanted: an introduction" in linked
    asked = browsed(f"http://127.1:{port}/search?q=stolen4", tmp_path)  # as from a mail
    assert 'id="question"' in asked
    assert not [one for one in seen(network) if one["query"].startswith("stolen")]
