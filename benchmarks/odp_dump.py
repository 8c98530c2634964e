"""Importing a full Open Directory dump: time, memory, and how fast the result opens.

Makes a dump in the real format out of the synthetic log's words, always the same one, imports
it with its sites and search index in a process of its own, opens the result in another, and
deletes everything. Prints a row of a table.

Usage: odp_dump.py [--categories-per-term 1000000] [--min-sites 4000000]
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from queryveil.synthetic.vocabulary import load_vocabulary, mix64

HERE = Path(__file__).parent
FAN = 8
TOPS = (
    *("Arts", "Business", "Computers", "Games", "Health", "Home", "Kids_and_Teens", "News"),
    *("Recreation", "Reference", "Regional", "Science", "Shopping", "Society", "Sports"),
    *("World", "Adult"),
)
HEAD = (
    "<?xml version='1.0' encoding='UTF-8' ?>\n"
    '<RDF xmlns:r="http://www.w3.org/TR/RDF/"\n'
    '     xmlns:d="http://purl.org/dc/elements/1.0/"\n'
    '     xmlns="http://dmoz.org/rdf/">\n'
    "<!-- made for a benchmark -->\n"
)
END = "</RDF>\n"
BROKEN = b" caf\xe9 \x0b "  # Latin-1, and a character that XML forbids
COLUMNS = {
    "categories": "{:,}",
    "sites": "{:,}",
    "dump_mb": "{:,} MB",
    "structure_s": "{:.0f} s",
    "content_s": "{:.0f} s",
    "index_s": "{:.0f} s",
    "import_s": "{:.0f} s",
    "import_mb": "{:,} MB",
    "file_mb": "{:,} MB",
    "search_mb": "{:,} MB",
    "open_ms": "{:.0f} ms",
    "term_ms": "{:.2f} ms",
}
TITLES = """categories|sites|dump (.gz)|structure|content|index|import in all|peak|taxonomy
|search index|opening|first 5 of a term""".replace("\n", "").split("|")


# --- the dump ------------------------------------------------------------------------------------


def paths(categories: int) -> list[str]:
    """Name the categories of a tree, in the order in which a directory lists them."""
    words = [word.title().replace(" ", "_") for word in load_vocabulary().words.to_list()]
    found = [f"Top/{top}" for top in TOPS[:categories]]
    for number in range(len(TOPS), categories):
        above, child = divmod(number - len(TOPS), FAN)
        # Siblings get words side by side, so no two have the same.
        word = words[(int(above * 2_654_435_761) % 1_000_003 * FAN + child) % len(words)]
        found.append(f"{found[above]}/{word}")
    return sorted(found)


def phrases(count: int) -> list[str]:
    """Make phrases of words, the first words of the vocabulary the most often."""
    words = load_vocabulary().words.to_list()
    draws = mix64(np.arange(count * 6, dtype=np.uint64)).reshape(count, 6)
    skewed = (draws % np.uint64(1 << 20)).astype(np.float64) / (1 << 20)
    rows = (skewed**3 * len(words)).astype(np.int64)
    sizes = 3 + (draws[:, 0] >> np.uint64(40)) % np.uint64(4)
    return [
        " ".join(words[word] for word in row[:size])
        for row, size in zip(rows.tolist(), sizes.tolist(), strict=True)
    ]


def structure(listed: list[str], said: list[str]) -> Iterator[bytes]:
    """Write the categories with links of every kind."""
    yield (HEAD + '<Topic r:id="">\n  <catid>1</catid>\n</Topic>\n').encode()
    for number, path in enumerate(listed):
        name = path.rpartition("/")[2]
        target = listed[number * 7919 % len(listed)]
        label = target.rpartition("/")[2]
        lines = [
            f'<Topic r:id="{path}">',
            f"  <catid>{number + 2}</catid>",
            f"  <d:Title>{name}</d:Title>",
            "  <lastUpdate>2006-03-01 12:00:00</lastUpdate>",
        ]
        if number % 4 == 0:
            about = said[number % len(said)]
            lines.append(f"  <d:Description>&lt;b&gt;{about}&lt;/b&gt; &amp; more</d:Description>")
        below = listed[number + 1 : number + 2]
        lines += [f'  <narrow1 r:resource="{one}"/>' for one in below if one.startswith(path)]
        lines.append(f'  <symbolic r:resource="{label}:{target}"/>')
        lines.append(f'  <related r:resource="{target}"/>')
        lines.append(f'  <altlang r:resource="French:Top/World/Français/{name}"/>')
        lines.append("</Topic>")
        if number % 3 == 0:
            lines += [f'<Alias r:id="{label}:{target}">', f"  <d:Title>{label}</d:Title>"]
            lines += [f'  <Target r:resource="{target}"/>', "</Alias>"]
        data = "\n".join([*lines, ""]).encode()
        yield data.replace(b" more", BROKEN) if number % 1000 == 0 else data
    yield END.encode()


def content(listed: list[str], said: list[str], sites: int) -> Iterator[bytes]:
    """Write each category with the addresses of its sites, and then the sites."""
    yield HEAD.encode()
    drawn = mix64(np.arange(sites, dtype=np.uint64)) % np.uint64(len(listed))
    counts = np.bincount(drawn.astype(np.int64), minlength=len(listed)).tolist()
    site = 0
    for number, (path, count) in enumerate(zip(listed, counts, strict=True)):
        names = [f"http://www.site-{n}.example/" for n in range(site, site + count)]
        links = "".join(f'  <link r:resource="{name}"/>\n' for name in names)
        lines = [f'<Topic r:id="{path}">\n  <catid>{number + 2}</catid>\n{links}</Topic>\n']
        for name in names:
            title, *about = (said[(site * k + k) % len(said)] for k in (17, 31, 101, 1009, 7919))
            text = f"{about[0]}, {about[1]} &amp; {about[2]}. &quot;{about[3]}&#39;s&quot;"
            lines.append(
                f'<ExternalPage about="{name}">\n  <d:Title>{title}</d:Title>\n'
                f"  <d:Description>{text}</d:Description>\n  <topic>{path}</topic>\n"
                "</ExternalPage>\n"
            )
            site += 1
        data = "".join(lines).encode()
        yield data.replace(b" &amp;", BROKEN) if number % 1000 == 0 else data
    yield END.encode()


def write(path: Path, pieces: Iterator[bytes]) -> Path:
    with gzip.open(path, "wb", compresslevel=1) as file:
        for piece in pieces:
            file.write(piece)
    return path


# --- what is measured, each in a process of its own ----------------------------------------------


def make_dump(folder: Path, categories: int, sites: int) -> dict[str, Any]:
    """Write both files of a dump."""
    listed, said = paths(categories), phrases(200_000)
    write(folder / "structure.rdf.u8.gz", structure(listed, said))
    write(folder / "content.rdf.u8.gz", content(listed, said, sites))
    return {"dump_mb": sum(file.stat().st_size for file in folder.glob("*.gz")) >> 20}


def import_dump(folder: Path) -> dict[str, Any]:
    """Import the dump that is in a folder, all branches included."""
    from queryveil.concepts.loaders.odp import import_odp
    from queryveil.concepts.taxonomy.builder import RepairLog
    from queryveil.concepts.taxonomy.search_index import index_path, write_index
    from queryveil.core.progress import NoProgress

    progress = NoProgress()
    start = time.perf_counter()
    structure_file = folder / "structure.rdf.u8.gz"
    repairs = RepairLog(structure_file)
    found = import_odp(
        structure_file,
        folder / "content.rdf.u8.gz",
        repairs,
        all_languages=True,
        include_adult=True,
        progress=progress,
    )
    out = folder / "odp.qvt"
    found.taxonomy.write(out)
    written = time.perf_counter()
    write_index(index_path(out), found.taxonomy, found.sites(), progress)
    return {
        "structure_s": written - start,
        "content_s": time.perf_counter() - written - progress.seconds["index the texts"],
        "index_s": progress.seconds["index the texts"],
        "categories": found.counts["categories"],
        "sites": found.counts["sites"],
        "counted": dict(found.counts),
        "stages": progress.seconds,
    }


def open_result(folder: Path) -> dict[str, Any]:
    """Open the taxonomy, and search for words."""
    from queryveil.concepts.taxonomy.graph import Taxonomy
    from queryveil.concepts.taxonomy.search_index import SearchIndex

    start = time.perf_counter()
    taxonomy = Taxonomy.open(folder / "odp.qvt")
    opened = time.perf_counter()
    search = SearchIndex.open(taxonomy)
    terms = load_vocabulary().words.to_list()[::29][:500]
    begin = time.perf_counter()
    search.best_matches(terms, 5)
    spent = time.perf_counter() - begin
    return {
        "open_ms": 1000 * (opened - start),
        "search_open_ms": 1000 * (begin - opened),
        "term_ms": 1000 * spent / len(terms),
    }


def child(task: str, folder: Path, *size: int) -> tuple[dict[str, Any], float, int]:
    """Run a task of this script and give its answer, its seconds and its peak memory in MB.

    Also the dump is made in a process of its own: a child's peak is at least what its parent
    holds when it starts.
    """
    start = time.perf_counter()
    with (folder / f"{task}.json").open("w+b") as answer:
        command = [sys.executable, __file__, "--task", task, "--folder", str(folder)]
        for option, value in zip(("--categories-per-term", "--min-sites"), size, strict=False):
            command += [option, str(value)]
        process = subprocess.Popen(command, stdout=answer)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            sys.exit(f"{task} failed")
        answer.seek(0)
        return json.load(answer), time.perf_counter() - start, usage.ru_maxrss // 1024


def run(categories: int, sites: int) -> dict[str, Any]:
    """Make a dump of that size, import and open it, and give what was measured."""
    (HERE / "data").mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=HERE / "data") as scratch:
        folder = Path(scratch)
        made, _, _ = child("make", folder, categories, sites)
        found, seconds, peak = child("import", folder)
        opened, _, open_peak = child("open", folder)
        return {
            **made,
            **found,
            **opened,
            "import_s": seconds,
            "import_mb": peak,
            "open_mb": open_peak,
            "file_mb": (folder / "odp.qvt").stat().st_size >> 20,
            "search_mb": (folder / "odp.qvt.search").stat().st_size >> 20,
        }


def table(rows: list[dict[str, Any]]) -> str:
    """Draw what was measured."""
    lines = [f"| {' | '.join(TITLES)} |", "|---:" * len(TITLES) + "|"]
    for row in rows:
        cells = [form.format(row[name]) for name, form in COLUMNS.items()]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--categories-per-term", type=int, default=1_000_000)
    parser.add_argument("--min-sites", type=int, default=4_000_000)
    parser.add_argument("--task", choices=["make", "import", "open"], help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.task == "make":
        print(json.dumps(make_dump(given.folder, given.categories, given.sites)))
    elif given.task:
        task = import_dump if given.task == "import" else open_result
        print(json.dumps(task(given.folder)))
    else:
        found = run(given.categories, given.sites)
        print(json.dumps(found, indent=1), file=sys.stderr)
        print(table([found]))


if __name__ == "__main__":
    main()
