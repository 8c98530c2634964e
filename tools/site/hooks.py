"""What MkDocs does besides rendering: add the generated pages, and check links that leave docs/."""

from __future__ import annotations

import logging
import os
import re
from typing import Any

from mkdocs.structure.files import File
from reference import PARTS, pages

_LINK = re.compile(r"\[([^\]]*)\]\((\.\./[^)#\s]*)(#[^)]*)?\)")
_PART = re.compile(r"<!-- generated ([a-z-]+) -->")
_log = logging.getLogger("mkdocs.hooks")


def on_files(files: Any, config: Any) -> Any:
    """Add the generated pages."""
    for path, text in pages().items():
        files.append(File.generated(config, path, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:  # noqa: ARG001
    """Fill in generated parts, and show links to files of the repository as their texts."""
    text = _PART.sub(lambda mark: PARTS[mark[1]](), markdown)
    return _LINK.sub(lambda link: _inside(link, page, config), text)


def _inside(link: re.Match[str], page: Any, config: Any) -> str:
    docs = os.path.realpath(config.docs_dir)
    folder = os.path.dirname(os.path.join(docs, page.file.src_uri))  # noqa: PTH118, PTH120
    target = os.path.normpath(os.path.join(folder, link[2]))  # noqa: PTH118
    if target.startswith(docs + os.sep):
        return link[0]
    if not os.path.exists(target):  # noqa: PTH110
        _log.warning("%s: no such file of the repository: %s", page.file.src_uri, link[2])
    return link[1] if "`" in link[1] else f"`{os.path.relpath(target, os.path.dirname(docs))}`"  # noqa: PTH120
