"""Make the file of Shopify's product taxonomy that comes with the program.

    python tools/make_shop.py FOLDER

FOLDER holds the categories of the taxonomy, one file per language, from `dist/` of
https://github.com/Shopify/product-taxonomy: categories.en.txt.gz, categories.de.txt.gz and so on.
All files list the same categories by their ids; an id holds that of the parent. So the file has the
ids once and the own label of each category in each language. Versions and check sums of the
sources are written to SOURCES-shop.txt, beside the licence. Other words of customers for a category
come from tools/shop/aliases.txt.
"""

from __future__ import annotations

import gzip
import hashlib
import re
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from queryveil.concepts.loaders.shop import FILE, LANGUAGES
from queryveil.concepts.taxonomy.arrays import StringArray
from queryveil.concepts.taxonomy.storage import write_arrays

# Branches that few shops have, and parts of other products: their labels are often common words,
# as "Scarves" for sports fans and "Lids" of coffee makers.
RARE = re.compile(r"(?:ap|bi|vp|rc|aa-1-(?:7|25)|aa-2-33|aa-8-11|ae-2-2|el-1|el-4-3|fr-15)(?:-|$)")
OF_OTHERS = re.compile("Accessories|Parts|Replacement|Repair")
TAGS = {"pt": "pt-BR"}
SOURCES = FILE.with_name("SOURCES-shop.txt")
ALIASES = Path(__file__).parent / "shop" / "aliases.txt"
GID = "gid://shopify/TaxonomyCategory/"


def read(path: Path) -> tuple[str, list[str], list[list[str]]]:
    """Return the version, the ids and the paths of a file."""
    first, *lines = gzip.decompress(path.read_bytes()).decode("utf-8").splitlines()
    rows = [line.removeprefix(GID).split(" : ", 1) for line in lines if line.startswith(GID)]
    version = first.rsplit(": ", 1)[1]
    return version, [row[0].strip() for row in rows], [row[1].split(" > ") for row in rows]


def check(path: Path, ids: list[str], paths: list[list[str]]) -> None:
    """Stop if an id does not hold the id of the category above."""
    known = dict(zip(ids, paths, strict=True))
    for name, parts in known.items():
        above = known[name.rpartition("-")[0]] if "-" in name else []
        if parts[:-1] != above:
            raise SystemExit(f"{path.name}: {name} is not below its parent")


def find_rare(ids: list[str], paths: list[list[str]]) -> NDArray[np.uint8]:
    """Return for each category whether few shops have it, or it is a part of another product."""
    return np.array(
        [
            bool(RARE.match(name)) or any(OF_OTHERS.search(part) for part in path[2:-1])
            for name, path in zip(ids, paths, strict=True)
        ],
        np.uint8,
    )


def read_aliases() -> dict[str, list[str]]:
    """Return for each language the aliases, each an id, a tab and a label."""
    aliases: dict[str, list[str]] = {code: [] for code in LANGUAGES}
    for line in ALIASES.read_text("utf-8").splitlines():
        if line.startswith("#"):
            continue
        name, _, languages = line.partition(": ")
        for item in languages.split("; "):
            code, _, words = item.strip().partition(" ")
            aliases[code] += [f"{name}\t{word.strip()}" for word in words.split(",")]
    return aliases


def main(folder: Path) -> None:
    arrays: dict[str, NDArray[np.uint8]] = {}
    sources: list[str] = []
    all_ids: list[str] = []
    versions: set[str] = set()
    for code in LANGUAGES:
        path = folder / f"categories.{TAGS.get(code, code)}.txt.gz"
        version, ids, paths = read(path)
        check(path, ids, paths)
        if all_ids and ids != all_ids:
            raise SystemExit(f"{path.name} has other categories")
        all_ids = ids
        versions.add(version)
        if code == "en":
            arrays["rare"] = find_rare(ids, paths)
        arrays[f"labels {code}"] = StringArray.of([parts[-1] for parts in paths]).bytes
        content = gzip.decompress(path.read_bytes())
        sources.append(f"{hashlib.sha256(content).hexdigest()}  {path.stem}")
    for code, lines in read_aliases().items():
        unknown = {line.split("\t")[0] for line in lines} - {*all_ids}
        if unknown:
            raise SystemExit(f"aliases of unknown categories: {', '.join(sorted(unknown))}")
        arrays[f"aliases {code}"] = StringArray.of(lines).bytes
    (version,) = versions
    arrays = {"names": StringArray.of(all_ids).bytes, **arrays}
    write_arrays(FILE, {"version": version}, arrays, packed=True)
    SOURCES.write_text(
        f"Shopify Product Taxonomy, version {version}, Copyright (c) Shopify, MIT licence: see\n"
        "LICENSE-shop.txt. https://github.com/Shopify/product-taxonomy\n\n"
        "SHA-256 of the files, unpacked:\n" + "\n".join(sources) + "\n",
        "utf-8",
    )
    print(f"{version}: {len(all_ids):,} categories, {FILE.stat().st_size:,} bytes")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
