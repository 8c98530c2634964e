"""The kit for methods: what every method must do, whatever it promises."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise

from ..errors import QueryveilError
from ..log.query_log import QueryLog
from ..methods.base import METHODS, Method
from ..release.guarantee import standing_of
from .checks import KitCheck, require, run_checks
from .guarantees import check_guarantee
from .logs import EMPTY_ROWS, HOSTILE_ROWS, ODD_ROWS, TINY_ROWS, Row, example_rows, rows_of
from .runs import MethodRun, MethodRuns, failed_checks, registered
from .tampering import TAMPERINGS, Tampering

_SEED, _OTHER_SEED = 9, 10
_MIN_ROWS = 20  # fewer rows can have the same order twice
_MIN_LENGTH = 7  # a shorter query can stand in a page by chance


def check_method(
    method: Method,
    log: QueryLog | None = None,
    *,
    recount: Callable[[MethodRun], None] | None = None,
) -> None:
    """Check a method; raise KitFailure with every check that it fails.

    Args:
        log: A log of which the method releases something; else a synthetic one of 150 users.
        recount: An independent oracle: it counts again what the method promises, on the written
            files, and raises if the promise does not hold.
    """
    run_checks(method, method_checks(method, log, recount=recount))


def method_checks(
    method: Method,
    log: QueryLog | Sequence[Row] | None = None,
    *,
    recount: Callable[[MethodRun], None] | None = None,
) -> list[KitCheck]:
    """Return the checks of `check_method`, for `pytest.mark.parametrize`."""
    if log is None:
        rows: Sequence[Row] = example_rows()
    else:
        rows = rows_of(log) if isinstance(log, QueryLog) else log
    runs = MethodRuns(method, rows)
    checks: dict[str, Callable[[], None]] = {
        "is described": lambda: _is_described(method),
        "parses its own spec": lambda: _parses_its_spec(method),
        "states a complete guarantee": lambda: check_guarantee(method.guarantee()),
        "releases something": lambda: _releases_something(runs.make()),
        "accounts for every row": lambda: _accounts_for_rows(runs.make()),
        "maps each pseudonym to one user": lambda: _maps_pseudonyms(runs.make()),
        "publishes no user name": lambda: _publishes_no_user(runs.make()),
        "publishes no suppressed query": lambda: _publishes_no_suppressed_query(runs.make()),
        "shuffles the rows": lambda: _shuffles(runs.make()),
        "takes fresh pseudonyms": lambda: _takes_fresh_pseudonyms(runs),
        "differs between unseeded runs": lambda: _differs_unseeded(runs),
        "repeats with a seed": lambda: _repeats_seeded(runs),
        "does not depend on user names": lambda: _ignores_names(runs),
        "is not for publication with a seed": lambda: _is_marked_seeded(runs),
        "has the standing of its guarantee": lambda: _has_its_standing(runs.make()),
        "verifies": lambda: _verifies(runs.make()),
    }
    for name, damage in TAMPERINGS.items():
        checks[f"shows {name}"] = partial(_shows, runs, damage, name)
    logs = {"an empty log": EMPTY_ROWS, "one row": TINY_ROWS, "hostile texts": HOSTILE_ROWS}
    for name, few in logs.items():
        checks[f"explains itself on {name}"] = partial(_explains_itself, runs, few)
    if method.guarantee().model == "k-anonymity" and "min_users" in method.params():
        checks["keeps its promise in the log"] = lambda: _holds_in_log(runs.make())
        of_k_users = tuple(_rows_of_k_users(method, rows))
        odd = ODD_ROWS | {"as many users as k": of_k_users}
        for name, few in odd.items():
            checks[f"keeps its promise on {name}"] = partial(_holds_or_explains, runs, few)
    if recount is not None:
        checks["keeps its promise when recounted"] = lambda: recount(runs.make())
    return [KitCheck(name, run) for name, run in checks.items()]


def _shows(runs: MethodRuns, damage: Tampering, name: str) -> None:
    damage.check(runs.make(), name)


def _is_described(method: Method) -> None:
    for name in ("name", "title", "paper", "guarantee_summary"):
        text = getattr(type(method), name, "")
        require(text and text == text.strip(), f'set the class variable "{name}" to a text')
    for declared in method.parameters():
        require(declared.help, f"the parameter {declared.name} has no help text")


def _parses_its_spec(method: Method) -> None:
    with registered(method):
        parsed = METHODS.parse(str(method))
    require(parsed == method, f'"{method}" parses to another method, "{parsed}"')
    texts = {name: str(value) for name, value in method.params().items()}
    again = type(method).from_params(texts)
    require(again == method, "its parameters, as texts, make another method")


def _releases_something(run: MethodRun) -> None:
    files = {name.split(".")[0] for name in run.public_bytes() if name.endswith(".tsv")}
    require(files, "it released neither a log nor tables")
    unexpected = files - run.method.output_files()
    require(not unexpected, f"output_files() does not name {', '.join(sorted(unexpected))}")
    require(
        run.released or any(run.tables.values()),
        "it released no row of the example log: choose parameters under which it does, or pass "
        "a log of your own",
    )


def _accounts_for_rows(run: MethodRun) -> None:
    """Check that kept + generated = released + dropped, where rows are released."""
    release, kept = run.release, run.release.source.accounting.kept
    generated, dropped = sum(release.generated.values()), sum(release.dropped.values())
    require(
        all(count >= 0 for count in (*release.generated.values(), *release.dropped.values())),
        "a count in `generated` or `dropped` is negative",
    )
    if release.log is None and release.generated:
        return  # a synthetic log that is not released as rows
    total = len(run.released) + dropped
    require(
        kept + generated == total,
        f"the log has {kept:,} rows and {generated:,} were generated, but {len(run.released):,} "
        f"were released and {dropped:,} dropped: count each row that is not released in "
        "`dropped`, and each released row that is none of the log in `generated`",
    )


def _maps_pseudonyms(run: MethodRun) -> None:
    if not run.released or not run.mapping:
        return
    users, names = {row[0] for row in run.mapping}, [row[1] for row in run.mapping]
    strangers = users - {row[0] for row in run.rows}
    require(not strangers, "the mapping has users who are not in the log")
    require(len(names) == len(set(names)), "the mapping has a pseudonym twice")
    require(
        {row[0] for row in run.released} <= set(names), "a released pseudonym is not in the mapping"
    )


def _publishes_no_user(run: MethodRun) -> None:
    users = {row[0] for row in run.rows if len(row[0]) >= _MIN_LENGTH}
    for name, data in run.public_bytes().items():
        text = data.decode("utf-8", "replace")
        shown = [user for user in users if user in text]
        require(not shown, f"{name} has the names of {len(shown):,} users of the log")


def _publishes_no_suppressed_query(run: MethodRun) -> None:
    cells = [f"{query}\n{url}" for _, query, _, _, url in run.released]
    cells += ["\t".join(row) for table in run.tables.values() for row in table]
    released = "\n".join(cells)
    data, about = "", ""
    for name, content in run.public_bytes().items():
        text = content.decode("utf-8", "replace")
        data, about = (data + text, about) if name.endswith(".tsv") else (data, about + text)
    suppressed = {
        query
        for _, query, *_ in run.rows
        if len(query) >= _MIN_LENGTH and query not in released and query.strip(",;\"'") == query
    }
    shown = [query for query in suppressed if query in data]
    require(not shown, f"{len(shown):,} queries that were dropped are in the published data")
    # A card can have a word that is a query too, such as the name of a parameter: but not many.
    shown = [query for query in suppressed if query in about]
    require(
        len(shown) <= max(5, len(suppressed) // 100),
        f"{len(shown):,} queries that were dropped are on the card or its page",
    )


def _shuffles(run: MethodRun) -> None:
    if len(run.released) < 2:
        return
    queries = [query for _, query, *_ in run.released]
    kept = set(queries)
    in_order = [query for _, query, *_ in run.rows if query in kept]
    require(
        queries != in_order or len(kept) == 1,
        "the rows are in the order of the log: use `engine.shuffle_rows`",
    )
    if _is_sorted_by_slot(run):
        return  # numbered rows are in the order of random pseudonyms
    names = [user for user, *_ in run.released]
    together = sum(a == b for a, b in pairwise(names))
    apart = len(set(names)) > 10
    require(
        not apart or together < len(names) / 2,
        "the rows of a user stand together, as in the log: use `engine.shuffle_rows`",
    )


def _is_sorted_by_slot(run: MethodRun) -> bool:
    times = [time or "" for _, _, time, *_ in run.released]
    if not all(time.isdecimal() for time in times):
        return False
    order = [(row[0], int(time)) for row, time in zip(run.released, times, strict=True)]
    return order == sorted(order)


def _takes_fresh_pseudonyms(runs: MethodRuns) -> None:
    first, second = ({row[0] for row in runs.make(number=n).released} for n in (0, 1))
    require(
        first.isdisjoint(second),
        "two releases share pseudonyms, so that they can be linked: use "
        "`methods.publication.pseudonymize`",
    )


def _differs_unseeded(runs: MethodRuns) -> None:
    first, second = (runs.make(number=n).public_bytes() for n in (0, 1))
    data = [name for name in first if name.endswith(".tsv") and first[name].count(b"\n") > 2]
    same = [name for name in data if first[name] == second.get(name)]
    require(
        not data or len(same) < len(data),
        "two runs without a seed published the same: take all randomness from `rng`",
    )
    rows = [[row[1:] for row in runs.make(number=n).released] for n in (0, 1)]
    require(
        rows[0] != rows[1] or len(set(rows[0])) < _MIN_ROWS,
        "two runs without a seed published the same rows in the same order under other "
        "pseudonyms: use `engine.shuffle_rows`",
    )


def _repeats_seeded(runs: MethodRuns) -> None:
    first, second = (runs.make(_SEED, n).public_bytes() for n in (0, 1))
    wrong = [name for name in first if first[name] != second.get(name)]
    require(
        not wrong,
        f"with the same seed {', '.join(wrong)} differs: take all randomness from `rng`, and let "
        "no order depend on threads or on hashes of texts",
    )
    other = runs.make(_OTHER_SEED).public_bytes()
    data = [name for name in first if name.endswith(".tsv") and first[name].count(b"\n") > 2]
    require(
        not data or any(first[name] != other.get(name) for name in data),
        "another seed gives the same data",
    )


def _ignores_names(runs: MethodRuns) -> None:
    """Check that the same users under other names give the same public bytes."""
    numbers = {user: n for n, user in enumerate(sorted({row[0] for row in runs.rows}))}
    renamed: list[Row] = [(f"person-{numbers[row[0]]:09}", *row[1:]) for row in runs.rows]
    first, second = runs.make(_SEED).public_bytes(), runs.run_on(renamed, _SEED).public_bytes()
    wrong = [name for name in first if first[name] != second.get(name)]
    require(
        not wrong,
        f"{', '.join(wrong)} changes if users have other names: a pseudonym must be drawn, and "
        "not be a function of the name",
    )


def _is_marked_seeded(runs: MethodRuns) -> None:
    run = runs.make(_SEED)
    require(run.card.release_grade is False, "a release with a seed is marked as publishable")
    require(not failed_checks(run.method, run.folder), "a release with a seed does not verify")


def _has_its_standing(run: MethodRun) -> None:
    expected = standing_of(run.method.guarantee(), run.method.reasons_not_to_publish())
    stated = run.card.not_release_grade_because
    missing = [reason for reason in expected.because if reason not in stated]
    require(not missing, f"the card lacks a reason against publication: {missing[:1]}")
    require(run.card.release_grade == (not stated), "the card's reasons and its standing disagree")
    texts = run.method.warnings()
    require(set(texts) <= {*run.card.warnings}, "the card lacks a warning of the method")


def _verifies(run: MethodRun) -> None:
    failed = failed_checks(run.method, run.folder)
    require(not failed, f"`verify` fails on the release: {', '.join(sorted(failed))}")
    copy = run.copy() / "public"
    failed = failed_checks(run.method, copy)
    require(not failed, f"`verify` fails on the public files alone: {', '.join(sorted(failed))}")


def _rows_of_k_users(method: Method, rows: Sequence[Row]) -> Sequence[Row]:
    users = list(dict.fromkeys(row[0] for row in rows))[: method.guarantee().k]
    return [row for row in rows if row[0] in users]


def _holds_in_log(run: MethodRun) -> None:
    """Check the written files against the log: users of texts, clicks and times, and groups."""
    failed = failed_checks(run.method, run.folder, QueryLog.from_rows(list(run.rows)))
    require(not failed, f"`verify` with the log fails: {', '.join(sorted(failed))}")


def _holds_or_explains(runs: MethodRuns, rows: Sequence[Row]) -> None:
    try:
        run = runs.run_on(rows)
    except QueryveilError as error:
        require(str(error).strip(), f"it raises {type(error).__name__} without a message")
        return
    _holds_in_log(run)


def _explains_itself(runs: MethodRuns, rows: Sequence[Row]) -> None:
    """Check that a log is refused with an error of queryveil, or that its release verifies."""
    try:
        run = runs.run_on(rows)
    except QueryveilError as error:
        require(str(error).strip(), f"it raises {type(error).__name__} without a message")
        return
    failed = failed_checks(run.method, run.folder)
    require(not failed, f"its release does not verify: {', '.join(sorted(failed))}")
