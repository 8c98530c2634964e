"""Nothing leaves this machine: the guard bites, and the commands do not notice it."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path

import pytest

OUTSIDE = ("192.0.2.1", 9)  # an address for documentation, which nobody has


@pytest.mark.parametrize(
    "leave",
    [
        lambda: socket.create_connection(OUTSIDE, timeout=0.1),
        lambda: socket.socket().connect(OUTSIDE),
        lambda: socket.socket().connect_ex(OUTSIDE),
        lambda: socket.socket(socket.AF_INET6).connect(("2001:db8::1", 9)),
        lambda: socket.socket(type=socket.SOCK_DGRAM).sendto(b"x", OUTSIDE),
        lambda: socket.getaddrinfo("queryveil.example", 80),
        lambda: socket.gethostbyname("queryveil.example"),
    ],
)
@pytest.mark.filterwarnings(
    "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)
def test_no_way_out_of_this_process(leave: object) -> None:
    with pytest.raises(RuntimeError, match="tests run offline"):
        leave()


def test_no_way_out_of_a_process_of_its_own() -> None:
    code = f"import socket; socket.create_connection({OUTSIDE!r}, timeout=1)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "tests run offline" in done.stderr


def test_this_machine_can_talk_to_itself() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.create_connection(("localhost", server.getsockname()[1]), timeout=600),
    ):
        server.accept()[0].close()


def test_the_commands_need_no_network(command, synthetic: Path, tmp_path: Path) -> None:
    """In a process of its own; the demo runs behind the same guard in its own tests."""
    method = ("--method", "frequent-queries", "--min-users", "6")
    ran = command("anonymize", synthetic, *method, "--out", "out", "--quiet")
    assert ran == (0, "", "")
    assert (tmp_path / "out" / "public" / "release.json").exists()
