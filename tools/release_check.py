"""Check the distributions in dist/: their files, their metadata, and the versions everywhere.

`make release-check` builds them, runs this, and installs the wheel into an environment of its own.
"""

from __future__ import annotations

import re
import sys
import tarfile
import zipfile
from email import message_from_string
from pathlib import Path

ROOT = Path(__file__).parent.parent


def main() -> None:
    (wheel,), (sdist,) = (sorted((ROOT / "dist").glob(end)) for end in ("*.whl", "*.tar.gz"))
    version = _find(ROOT / "src/queryveil/_version.py", r'__version__ = "([^"]+)"')
    faults = [*_versions(version), *_files(wheel, sdist), *_metadata(wheel, version)]
    sys.exit("\n".join(faults) or 0)


def _versions(version: str) -> list[str]:
    stated = {
        "CITATION.cff": _find(ROOT / "CITATION.cff", r"(?m)^version: (\S+)$"),
        "CHANGELOG.md": _find(ROOT / "CHANGELOG.md", r"(?m)^## (\d\S*?),? "),
    }
    return [f"{name} has {text}, not {version}" for name, text in stated.items() if text != version]


def _files(wheel: Path, sdist: Path) -> list[str]:
    """Return which files of the package a distribution lacks."""
    source = ROOT / "src"
    ours = {
        path.relative_to(source).as_posix()
        for path in (source / "queryveil").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    with zipfile.ZipFile(wheel) as archive:
        in_wheel = set(archive.namelist())
    with tarfile.open(sdist) as packed:
        in_sdist = {name.partition("/src/")[2] for name in packed.getnames()}
    return [
        f"{path.name} lacks {name}"
        for path, names in ((wheel, in_wheel), (sdist, in_sdist))
        for name in sorted(ours - names)
    ]


def _metadata(wheel: Path, version: str) -> list[str]:
    with zipfile.ZipFile(wheel) as archive:
        name = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        fields = message_from_string(archive.read(name).decode())
    needed = ("Summary", "License", "Requires-Python")
    faults = [f"METADATA has no {key}" for key in needed if not fields[key]]
    if fields["Version"] != version:
        faults.append(f"METADATA has version {fields['Version']}, not {version}")
    if fields["Description-Content-Type"] != "text/markdown" or not fields.get_payload():
        faults.append("METADATA has no description in Markdown")
    return faults


def _find(path: Path, pattern: str) -> str:
    found = re.search(pattern, path.read_text("utf-8"))
    return found[1] if found else "no version"


if __name__ == "__main__":
    main()
