"""A taxonomy from one category path a line: `Top/Sports/Water_Sports/Windsurfing`."""

from __future__ import annotations

from collections.abc import Iterable

from ..draft import Draft, Repairs
from ..taxonomy import Taxonomy

__all__ = ["PathTree", "taxonomy_of_paths"]


class PathTree:
    """A tree that grows path by path; a path's parents need no line of their own."""

    def __init__(self, title: str, repairs: Repairs) -> None:
        self.draft = Draft(title, paths=True)
        self.repairs = repairs
        self._places: dict[str, int] = {}

    def add(self, path: str, line: int) -> int | None:
        """Add a path with all above it, and give its place; None where nothing is left of it."""
        place = self._places.get(path)
        if place is not None:
            return place
        parts = path.split("/")
        if not all(part.strip() for part in parts):
            self.repairs.needed(
                "a path with an empty part", "empty parts are left out", line, path[:80]
            )
            whole = "/".join(part for part in parts if part.strip())
            return self.add(whole, line) if whole else None
        above = self.add("/".join(parts[:-1]), line) if len(parts) > 1 else None
        label = parts[-1].replace("_", " ").strip()
        self._places[path] = self.draft.add(parts[-1], line, label or parts[-1], above)
        return self._places[path]

    def finish(self) -> Taxonomy:
        """Make the taxonomy; `Top`, as ODP has it, is an artificial root, and so is ours."""
        roots = [path for path in self._places if "/" not in path]
        if len(roots) == 1 and roots[0].lower() == "top":
            self.draft.top = self._places[roots[0]]
        elif len(roots) > 1:
            self.draft.top = self.draft.add("", 0)
        return self.draft.finish(self.repairs)


def taxonomy_of_paths(paths: Iterable[str], title: str = "paths") -> Taxonomy:
    """Make a taxonomy of category paths.

    >>> taxonomy_of_paths(["Home/Garden/Mowers", "Home/Kitchen"]).title
    'paths'
    """
    tree = PathTree(title, Repairs(title))
    for line, path in enumerate(paths, 1):
        tree.add(path, line)
    return tree.finish()
