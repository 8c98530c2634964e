"""A signature over the public files: who signed, and that nothing was changed since."""

from __future__ import annotations

import json
import shutil
import stat
import tarfile
from pathlib import Path

import pytest

import queryveil as qv
from queryveil.release import signing
from queryveil.workflows.anonymization import anonymize_to_folder

ROWS = [(user, "weather", "2006-03-01 10:00:00", None, None) for user in "abc"]


@pytest.fixture
def out(tmp_path: Path) -> Path:
    qv.anonymize(qv.QueryLog.from_rows(ROWS), "frequent-queries:min-users=2").write(
        tmp_path / "out"
    )
    return tmp_path / "out"


@pytest.fixture
def key(tmp_path: Path) -> Path:
    qv.make_signing_key(tmp_path / "key.pem")
    return tmp_path / "key.pem"


def told(folder: Path, signer: str | None = None) -> tuple[bool | None, str]:
    found = qv.verify(folder, signer=signer)
    return next((f.holds, f.message) for f in found.findings if f.check == "signature")


def test_unsigned(out: Path, key: Path) -> None:
    assert told(out) == (True, "unsigned: a change of all files together cannot be detected")
    holds, says = told(out, qv.show_signing_key(key))
    assert holds is False
    assert says.startswith("unsigned, though a signer was named")


def test_signed(out: Path, key: Path, tmp_path: Path) -> None:
    public = qv.sign(out, key)
    assert public == qv.show_signing_key(key)
    assert told(out) == (True, f"signed by {public} (not checked against a known key)")
    assert told(out, public) == (True, f"signed by {public} (the key that was named)")
    (tmp_path / "reader.pub").write_text(public + "\n")
    assert told(out / "public", str(tmp_path / "reader.pub"))[0] is True
    assert qv.verify(out).holds is True


def test_only_the_bytes_of_the_files_are_signed(out: Path, key: Path) -> None:
    """The same files and key give the same signature, wherever and whenever."""
    qv.sign(out, key)
    first = (out / "public" / "signature.json").read_bytes()
    assert json.loads(first).keys() == {"version", "key", "signature"}
    (out / "public" / "signature.json").unlink()
    moved = out.rename(out.with_name("elsewhere"))
    qv.sign(moved, key)
    assert (moved / "public" / "signature.json").read_bytes() == first


def test_another_signer_is_seen(out: Path, key: Path, tmp_path: Path) -> None:
    other = qv.make_signing_key(tmp_path / "other.pem")
    qv.sign(out, key)
    assert told(out, other)[0] is False
    with pytest.raises(qv.OutputError, match="signed already"):
        qv.sign(out, tmp_path / "other.pem")
    qv.sign(out, tmp_path / "other.pem", overwrite=True)
    assert told(out, other)[0] is True


@pytest.mark.parametrize("change", ["a file", "the key", "the signature", "a part", "no text"])
def test_any_change_breaks_it(out: Path, key: Path, tmp_path: Path, change: str) -> None:
    qv.sign(out, key)
    path = out / "public" / "signature.json"
    given = json.loads(path.read_text())
    if change == "a file":
        with (out / "public" / "report.html").open("a") as file:
            file.write(" ")
    elif change == "the key":
        path.write_text(json.dumps(given | {"key": qv.make_signing_key(tmp_path / "other.pem")}))
    elif change == "the signature":
        path.write_text(json.dumps(given | {"signature": given["signature"][::-1]}))
    elif change == "a part":
        path.write_text(json.dumps(given | {"time": "now"}))
    else:
        path.write_bytes(b"\xff")
    assert told(out)[0] is False
    with pytest.raises(qv.VerificationError):
        qv.pack(out)


def test_it_is_packed(out: Path, key: Path, tmp_path: Path) -> None:
    public = qv.sign(out, key)
    with tarfile.open(qv.pack(out)) as tar:
        tar.extractall(tmp_path / "got", filter="data")
    assert told(tmp_path / "got" / "out", public)[0] is True


def test_only_what_holds_is_signed(out: Path, key: Path) -> None:
    (out / "public" / "mapping.tsv").write_text("user\n")
    with pytest.raises(qv.VerificationError, match="does not verify cannot be signed"):
        qv.sign(out, key)


def test_keys(key: Path, tmp_path: Path) -> None:
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    with pytest.raises(qv.OutputError, match="exists already"):
        qv.make_signing_key(key)
    key.chmod(0o644)
    with pytest.raises(qv.InputError, match="others can read this key"):
        qv.show_signing_key(key)
    (tmp_path / "no.pem").write_text("secret words")
    (tmp_path / "no.pem").chmod(0o600)
    with pytest.raises(qv.InputError, match="no signing key") as raised:
        qv.show_signing_key(tmp_path / "no.pem")
    assert "secret" not in str(raised.value)
    with pytest.raises(qv.UsageError, match="no public key"):
        qv.verify(tmp_path, signer="queryveil-ed25519:AAAA")


def test_the_commands(out: Path, tmp_path: Path, cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    public = cli("keys", "make").out.strip()
    assert cli("keys", "show").out.strip() == public
    assert signing.key_place().is_file()
    assert public in cli("sign", str(out)).out
    log = tmp_path / "log.tsv"
    lines = [f"{user}\t{query}\t{time}\t\t" for user, query, time, _, _ in ROWS]
    log.write_text("AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n" + "\n".join(lines) + "\n")
    made = (
        "anonymize",
        str(log),
        "--format",
        "aol",
        "--method",
        "frequent-queries:min-users=2",
        "--out",
    )
    assert cli(*made, str(tmp_path / "no"), "--sign", str(tmp_path / "missing")).code == 1
    assert not (tmp_path / "no").exists()
    assert cli(*made, str(tmp_path / "new"), "--sign", str(signing.key_place())).code == 0
    assert told(tmp_path / "new", public)[0] is True
    ran = cli("verify", str(out), "--signer", public)
    assert ran.code == 0
    assert f"signed by {public} (the key that was named)" in ran.out
    shutil.rmtree(out / "private")
    (out / "public" / "signature.json").unlink()
    assert cli("verify", str(out), "--signer", public).code == 1
    assert "unsigned" in cli("verify", str(out)).out


def test_a_folder_that_stands_is_signed(
    out: Path, key: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that is killed as soon as the folder has its name has signed it before."""
    seen = []

    def named(part: Path, *_: object) -> bool:
        seen.append((part / "public" / "signature.json").is_file())
        raise KeyboardInterrupt

    monkeypatch.setattr("queryveil.core.folders._rename_if_free", named)
    method = qv.parse_method("frequent-queries:min-users=2")
    with pytest.raises(KeyboardInterrupt):
        anonymize_to_folder(qv.QueryLog.from_rows(ROWS), method, tmp_path / "new", sign=key)
    assert seen == [True]
    assert not (tmp_path / "new").exists()
    with pytest.raises(qv.QueryveilError):
        anonymize_to_folder(qv.QueryLog.from_rows(ROWS), method, tmp_path / "new", sign=out)
    assert not (tmp_path / "new").exists()


def test_a_copy_is_not_signed_anew(out: Path, key: Path, tmp_path: Path, cli) -> None:
    ran = cli("anonymize", "--copy-of", str(out), "--sign", str(key), "--out", str(tmp_path / "b"))
    assert ran.code == 2
    assert "--copy-of cannot be combined with --sign" in ran.err
    assert not (tmp_path / "b").exists()
