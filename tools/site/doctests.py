"""Let examples in docstrings stand as code on the pages of the API."""

from __future__ import annotations

import inspect
import re
from typing import Any

import griffe

_EXAMPLE = re.compile(r"(?:^|(?<=\n\n))(>>> .*?)(?=\n\n|\Z)", re.DOTALL)


class Doctests(griffe.Extension):
    """Put fences around doctests: Markdown would read `[[1, 2]]` as a link."""

    def on_object(self, *, obj: griffe.Object, **kwargs: Any) -> None:  # noqa: ARG002
        """Change the text of a docstring that has examples."""
        if obj.docstring is not None:
            text = inspect.cleandoc(obj.docstring.value)
            obj.docstring.value = _EXAMPLE.sub(r"```python\n\1\n```", text)
