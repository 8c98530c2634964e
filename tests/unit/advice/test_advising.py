"""`advise`: no look without leave, a look that is recorded, and lines that run as printed."""

from __future__ import annotations

import json
import shlex
import shutil
import warnings
from pathlib import Path

import pytest

import queryveil as qv
from conftest import Run
from queryveil.advice.result import Advice
from queryveil.ledger.ledger import Ledger
from queryveil.workflows.budget import DATA_ACCESS_NOTE, DATA_ACCESS_RECORDED

pytestmark = pytest.mark.usefixtures("one_mapper", "small_sketch")
ANSWERS = {"recipient": "team", "purpose": "user-modeling", "users": 20_000, "language": "english"}
# Together these propose every method of the table.
SITUATIONS = [
    {"recipient": "team", "purpose": "user-modeling", "never": "none"},
    {"recipient": "partner", "purpose": "ranking", "never": "none"},
    {"recipient": "public", "purpose": "benchmark"},
]


@pytest.fixture
def log(tmp_path: Path, synthetic: Path) -> Path:
    (tmp_path / "my logs").mkdir()
    return Path(shutil.copy(synthetic, tmp_path / "my logs" / "log.tsv"))


def looks(log: Path) -> list[str]:
    ledger = log.parent / "ledger.db"
    if not ledger.exists():
        return []
    with Ledger.open(ledger, create=False) as opened:
        return [entry.method for entry in opened.entries() if entry.kind == "look"]


def test_without_a_look_the_log_is_not_opened(log: Path, tmp_path: Path) -> None:
    """A missing file, a folder and a file without rows all get the same advice."""
    empty = tmp_path / "empty.tsv"
    empty.write_bytes(b"\xff\x00 no log at all")
    advices = [qv.advise(path, **ANSWERS) for path in (log, empty, tmp_path, "no/such/file.tsv")]
    texts = {
        str(advice).replace(str(path), "LOG").replace(repr(str(path)), "LOG")
        for advice, path in zip(advices, (log, empty, tmp_path, "no/such/file.tsv"), strict=True)
    }
    assert len({text.replace("'LOG'", "LOG") for text in texts}) == 1
    assert all(advice.look is None for advice in advices)
    assert sorted(path.name for path in log.parent.iterdir()) == ["log.tsv"]


def test_a_look_is_recorded_and_measures_beside_the_proposals(log: Path) -> None:
    before = qv.advise(log, **ANSWERS)
    after = qv.advise(log, **ANSWERS, look=True)
    assert looks(log) == ["advise"]
    assert after.look is not None
    assert after.look.notes[0] == DATA_ACCESS_RECORDED
    assert after.look.users == qv.read_log(log).count_distinct("user")
    assert [p.method for p in before.proposals] == [p.method for p in after.proposals]
    for proposal in after.proposals:
        assert {figure.origin for figure in proposal.figures} >= {"measured"}
    for proposal in before.proposals:
        assert {figure.origin for figure in proposal.figures} <= {"shipped"}
    assert "for you alone" in str(after)


@pytest.mark.parametrize("look", [False, True])
def test_the_card_of_a_later_private_release_states_a_look(log: Path, cli: Run, look: bool) -> None:
    options = ["--users", 20_000, "--recipient", "partner", "--purpose", "trends"]
    ran = cli("advise", log, *options, "--look" if look else "--no-look", "--json")
    assert ran.code == 0, ran.err
    for line in json.loads(ran.out)["proposals"][0]["commands"]:
        made = cli(*shlex.split(line)[1:])
        assert made.code == 0, made.err
    card = json.loads(Path("private-query-counts/public/release.json").read_text())
    assert (DATA_ACCESS_NOTE in card["notes"]) is look


def test_a_look_that_cannot_be_recorded_does_not_happen(log: Path) -> None:
    (log.parent / "ledger.db").mkdir()
    with pytest.raises(qv.UsageError, match="cannot be recorded"):
        qv.advise(log, **ANSWERS, look=True)
    with pytest.raises(qv.UsageError, match="cannot be recorded"):
        qv.advise(qv.make_log(users=20), **ANSWERS, look=True)
    with pytest.raises(qv.UsageError, match="no log to look at"):
        qv.advise(**ANSWERS, look=True)


def test_low_coverage_takes_away_grouping_by_meaning(tmp_path: Path) -> None:
    """The declared change by a look, and none of the private method."""
    path = tmp_path / "log.csv"
    words = [f"{user},zqx{user % 7}ptk" for user in range(60)]
    path.write_text("user,query\n" + "\n".join(words) + "\n")
    before, after = qv.advise(path, **ANSWERS), qv.advise(path, **ANSWERS, look=True)
    names = [[p.method.partition(":")[0] for p in advice.proposals] for advice in (before, after)]
    assert names[0][:2] == ["profile-first", "semantic-microaggregation"]
    assert names[1][:2] == ["profile-first", "string-microaggregation"]
    assert after.look is not None
    assert after.look.changes[0].startswith("semantic-microaggregation is not proposed: only 0%")


@pytest.mark.parametrize("situation", SITUATIONS)
def test_commands_run_as_printed(log: Path, cli: Run, situation: dict[str, str]) -> None:
    advice = qv.advise(log, users=20_000, **situation)
    assert advice.proposals
    for proposal in advice.proposals:
        for line in proposal.commands:
            program, *words = shlex.split(line)
            assert program == "queryveil"
            with warnings.catch_warnings():  # of a second release of the same users
                warnings.simplefilter("ignore", UserWarning)
                ran = cli(*words)
            assert ran.code == 0, f"{line}: {ran.err}"
        card = json.loads(Path(proposal.rule, "public", "release.json").read_text())
        assert card["standing"] == proposal.standing.value
        assert card["parameters"] == proposal.parameters


@pytest.mark.parametrize("situation", SITUATIONS)
def test_python_lines_run_as_printed(
    log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, situation: dict[str, str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for proposal in qv.advise(log, users=20_000, **situation).proposals:
        exec("\n".join(proposal.python), {})
        assert qv.verify(proposal.rule)


def test_lines_name_the_options_that_were_typed(cli: Run, tmp_path: Path) -> None:
    """Semicolons, names of columns, times and excluded users all come back, quoted."""
    Path("my shop.csv").write_text(
        "kunde;suche;zeit\n"
        + "".join(f"{row % 40};rote schuhe {row % 2};01/03/2024 10:00\n" for row in range(400))
    )
    Path("objections.txt").write_text("3\n")
    typed = ["--columns", "user=kunde,query=suche,time=zeit", "--delimiter", ";"]
    typed += ["--time-format", "%d/%m/%Y %H:%M", "--exclude-users", "objections.txt"]
    answers = ["--users", "2000", "--recipient", "partner", "--purpose", "ranking"]
    ran = cli("advise", "my shop.csv", *typed, *answers, "--language", "german", "--json")
    assert ran.code == 0, ran.err
    [proposal] = json.loads(ran.out)["proposals"]
    for line in proposal["commands"]:
        made = cli(*shlex.split(line)[1:])
        assert made.code == 0, made.err
    mapping = Path("groups-of-equal-queries/private/mapping.tsv").read_text().splitlines()
    assert len(mapping) == 1 + 39  # a header, and all users but one
    shutil.rmtree("groups-of-equal-queries")
    exec("\n".join(proposal["python"]), {})
    assert qv.verify("groups-of-equal-queries")


def test_a_log_in_memory_has_python_lines_alone() -> None:
    log = qv.make_log(users=300)
    advice = qv.advise(log, recipient="team", purpose="user-modeling", users=2_000)
    assert all(proposal.commands == () for proposal in advice.proposals)
    assert all("ledger='population'" in p.python[2] for p in advice.proposals[:1])


def test_options_of_a_log_that_was_read_come_back(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("uid,q\n" + "".join(f"{u},cats\n" for u in range(50)))
    log = qv.read_log(path, columns={"user": "uid", "query": "q"})
    [proposal, *_] = qv.advise(log, recipient="team", purpose="ranking", users=2_000).proposals
    assert "--columns query=q,user=uid" in proposal.commands[0]
    assert "columns={'query': 'q', 'user': 'uid'}" in proposal.python[1]


def test_the_number_of_users_is_needed_for_one_answer() -> None:
    advice = qv.advise(recipient="public", purpose="trends")
    assert advice.release == "depends-on-users"
    assert [entry.release for entry in advice.by_users] == ["no", "no", "with-care", "yes", "yes"]
    assert "`users=N`" in str(advice)


def test_users_that_were_counted_choose_no_private_method(log: Path) -> None:
    advice = qv.advise(log, recipient="team", purpose="user-modeling", look=True)
    assert advice.proposals == ()
    assert advice.release == "depends-on-users"
    assert any("public figure" in exclusion.because for exclusion in advice.excluded)


def test_missing_answers_are_the_protected_ones_and_are_listed() -> None:
    advice = qv.advise(users=1_000)
    assert advice.release == "no"
    assert advice.answers.recipient == "public"
    assert len(advice.answers.never) == 4
    assert advice.answers.assumed == ("recipient", "purpose", "language", "never")
    assert str(advice).count("(not answered; assumed)") == 4


def test_a_thousand_users_are_refused_with_a_way_out() -> None:
    text = str(qv.advise(recipient="public", purpose="trends", users=1_000))
    assert text.startswith("Release: no\nDo not release this log to the public")
    text = " ".join(text.split())
    assert "about 1 with epsilon 1" in text
    assert "What you can do instead" in text
    assert "synthetic log" in text


def test_queries_of_a_language_without_data_get_no_method_of_meaning() -> None:
    advice = qv.advise(
        recipient="partner", purpose="user-modeling", users=5_000, language="finnish"
    )
    assert [p.method.partition(":")[0] for p in advice.proposals] == ["string-microaggregation"]
    assert "English words only" in str(advice)
    assert "import_taxonomy" in str(advice)


def test_advice_is_a_record(log: Path) -> None:
    advice = qv.advise(log, **ANSWERS)
    assert Advice.from_dict(json.loads(advice.to_json())) == advice
    assert repr(advice).startswith("Advice(release: yes; profile-first with epsilon 1;")


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ({"recipient": "publik"}, 'did you mean "public"'),
        ({"purpose": "rank"}, 'did you mean "ranking"'),
        ({"never": "identify"}, "identify-a-user"),
        ({"never": "none,link-two-queries"}, "both none and something"),
        ({"users": 0}, "`users` cannot be"),
        ({"users": "many"}, "`users` cannot be"),
    ],
)
def test_wrong_answers_are_explained(answers: dict[str, object], message: str) -> None:
    with pytest.raises(qv.UsageError, match=message):
        qv.advise(**answers)


def test_lines_for_a_log_without_excluded_users_exclude_them_again(tmp_path: Path) -> None:
    path = tmp_path / "log.tsv"
    qv.write_synthetic_log(path, users=300)
    user = qv.read_log(path).to_polars()["user"][0]
    log = qv.read_log(path, exclude_users={str(user)})
    advice = qv.advise(log, recipient="team", purpose="linguistics", users=100_000)
    assert advice.proposals
    for proposal in advice.proposals:
        assert all("--exclude-users EXCLUDED" in line for line in proposal.commands[:1])
        assert any("exclude_users=excluded" in line for line in proposal.python)
