"""Draw users as points and their groups as colors; near points are users of similar interests."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import queryveil as qv
from queryveil.concepts.similarity.profiles import profile_distance_matrix
from queryveil.methods.microaggregation.grouping import mdav, mean_intra_group_distance
from queryveil.methods.microaggregation.refinement import refine_groups
from queryveil.render.charts.scales import tint
from queryveil.render.charts.style import picture_style

USERS, K = 80, 5
SIDE, GAP, TOP = 470, 30, 64


def partition() -> str:
    """Draw the same users grouped by chance, by MDAV, and by MDAV with refinement."""
    matrix = _distances()
    users = len(matrix)
    chance = np.minimum(np.random.default_rng(1).permutation(users) // K, users // K - 1)
    groups = mdav(matrix, K)
    panels = (
        ("groups by chance", chance),
        ("MDAV", groups),
        ("MDAV, then refined", refine_groups(matrix, groups)),
    )
    label = f"{users} users as points, their groups of {K} as colors, three times"
    return draw_panels(matrix, panels, label)


def draw_panels(
    matrix: NDArray[np.float32],
    panels: Sequence[tuple[str, NDArray[np.integer[Any]]]],
    label: str,
) -> str:
    """Draw the users of a matrix of distances once for each name with groups."""
    points = _points(matrix)
    parts = [
        _panel(
            place * (SIDE + GAP) + GAP,
            name,
            points,
            group,
            mean_intra_group_distance(matrix, group),
        )
        for place, (name, group) in enumerate(panels)
    ]
    width, height = len(panels) * (SIDE + GAP) + GAP, TOP + SIDE + GAP
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="qv-chart" viewBox="0 0 {width} {height}" '
        f'role="img" aria-label="{label}"><style>{picture_style()}</style>'
        f'<rect class="back" width="{width}" height="{height}" rx="8"/>{"".join(parts)}</svg>\n'
    )


def _distances() -> NDArray[np.float32]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.tsv"
        qv.write_synthetic_log(path, users=USERS)
        log = qv.read_log(path)
    found = qv.map_log(log)
    return profile_distance_matrix(found.taxonomy, found.profiles(log))


def _points(matrix: NDArray[np.float32]) -> NDArray[np.float64]:
    """Lay users out in the plane by classical scaling: distances are kept as well as may be."""
    squares = matrix.astype(np.float64) ** 2
    centre = np.eye(len(matrix)) - 1 / len(matrix)
    values, vectors = np.linalg.eigh(-centre @ squares @ centre / 2)
    found = vectors[:, -2:] * np.sqrt(np.maximum(values[-2:], 0))
    ranks = found.argsort(axis=0).argsort(axis=0) / (len(matrix) - 1)
    scaled = (found - found.min(axis=0)) / np.ptp(found, axis=0)
    return np.asarray((ranks + scaled) / 2)  # half by rank, so that dense places open up


def _panel(
    left: int,
    name: str,
    points: NDArray[np.float64],
    group: NDArray[np.integer[Any]],
    mean: float,
) -> str:
    place = points * (SIDE - 40) + [left + 20, TOP + 20]
    parts = [
        f'<text class="name" x="{left}" y="30" style="font-size:22px">{name}</text>',
        f'<text x="{left}" y="52" style="font-size:17px">'
        f"mean distance within groups {mean:.2f}</text>",
        f'<rect class="frame" x="{left}" y="{TOP}" width="{SIDE}" height="{SIDE}" rx="12"/>',
    ]
    for number in range(int(group.max()) + 1):
        members = place[group == number]
        x, y = members.mean(axis=0)
        spokes = "".join(f"M{x:.0f} {y:.0f}L{a:.0f} {b:.0f}" for a, b in members)
        marks = "".join(
            f'<circle class="mark" cx="{a:.0f}" cy="{b:.0f}" r="6.5"/>' for a, b in members
        )
        parts.append(f'<g class="{tint(number)}"><path class="reach" d="{spokes}"/>{marks}</g>')
    return "".join(parts)
