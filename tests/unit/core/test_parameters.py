"""Parameters: declared once, refused with help, and a method's line parses back to it."""

from __future__ import annotations

import copy
import inspect
import pickle
from dataclasses import FrozenInstanceError, dataclass
from typing import ClassVar, Literal

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from queryveil.core.parameters import Parameter, Parametrized, parameter
from queryveil.errors import ParameterError, UsageError
from queryveil.measures.base import MEASURES
from queryveil.methods.base import METHODS, Method, parse_method
from queryveil.methods.frequent_queries import FrequentQueries


def values_of(declared: Parameter) -> st.SearchStrategy[object]:
    if declared.choices:
        return st.sampled_from(declared.choices)
    if declared.type is bool:
        return st.booleans()
    if declared.type is int:
        numbers = st.integers(declared.min, declared.max)
        return numbers | st.sampled_from(declared.words) if declared.words else numbers
    if declared.type is float:
        return st.floats(declared.min, declared.max, allow_nan=False)
    return st.just(declared.default)


@pytest.mark.parametrize("kind", METHODS.values(), ids=METHODS)
@settings(max_examples=40, suppress_health_check=[HealthCheck.filter_too_much])
@given(data=st.data())
def test_the_line_of_a_method_parses_back_to_it(kind: type[Method], data: st.DataObject) -> None:
    values = {d.name: data.draw(st.just(d.default) | values_of(d)) for d in kind.parameters()}
    try:
        method = kind(**values)
    except ParameterError:  # two that do not go together, such as pure mode and a delta
        assume(False)
    assert parse_method(str(method)) == method
    assert kind.from_params({name: str(value) for name, value in values.items()}) == method
    assert method.params() == values


@pytest.mark.parametrize("kind", METHODS.values(), ids=METHODS)
def test_every_method_is_described(kind: type[Method]) -> None:
    assert str(kind()) == kind.name
    assert parse_method(kind.name) == kind()
    for text in (kind.name, kind.title, kind.paper, kind.guarantee_summary):
        assert text.strip() == text != ""
    for declared in kind.parameters():
        assert declared.help
        assert declared.option == "--" + declared.name.replace("_", "-")
        assert declared.parse(declared.default) == declared.default


def test_the_registry_knows_each_method_once() -> None:
    methods = METHODS
    assert methods["frequent-queries"] is FrequentQueries
    assert list(methods) == sorted(methods)
    assert all(kind.name == name for name, kind in methods.items())


@pytest.mark.parametrize(
    ("line", "method"),
    [
        ("frequent-queries", FrequentQueries()),
        ("frequent-queries:min-users=20", FrequentQueries(min_users=20)),
        (" frequent-queries: min-users = 20 :pseudonym-scope= none ",
         FrequentQueries(min_users=20, pseudonym_scope="none")),
        ("frequent-queries:include-clicks=no:"
         "time-precision=month", FrequentQueries(include_clicks=False, time_precision="month")),
        ("frequent-queries:include-clicks=TRUE", FrequentQueries()),
    ],
)  # fmt: skip
def test_lines(line: str, method: Method) -> None:
    assert parse_method(line) == method


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("frequent-querys", 'unknown method "frequent-querys"'),
        ("frequent-querys", 'Hint: did you mean "frequent-queries"?'),
        ("zzz", "known are: "),
        ("", 'unknown method ""'),
        ("frequent-queries:pseudonym-scop=user", 'has no parameter `pseudonym_scop`. Hint: did '
                                                 'you mean `pseudonym_scope`?'),
        ("frequent-queries:n", '"n" in "frequent-queries:n". Hint: write it as name=value'),
        ("frequent-queries:", "Hint: write it as name=value"),
        ("frequent-queries:min-users=0", '`min_users` cannot be "0". Hint: it must be a whole '
                                         'number from 1'),
        ("frequent-queries:min-users=-3", '`min_users` cannot be "-3"'),
        ("frequent-queries:min-users=2.5", '`min_users` cannot be "2.5"'),
        ("frequent-queries:min-users=many", '`min_users` cannot be "many"'),
        ("frequent-queries:min-users=", '`min_users` cannot be ""'),
        ("frequent-queries:min-users=inf", '`min_users` cannot be "inf"'),
        (f"frequent-queries:min-users={10**40}", "`min_users` cannot be"),
        (f"frequent-queries:min-users={'9' * 5000}", "`min_users` cannot be"),
        ("frequent-queries:pseudonym-scope=person", "must be one of user, session, none: rows "
                                                    "with the same pseudonym"),
        ("frequent-queries:time-precision=second", "one of none, month, day, hour"),
        ("frequent-queries:include-clicks=maybe", '"maybe". Hint: it must be yes or no'),
        ("frequent-queries:min-users=2:min-users=3", '"min-users" is twice'),
        ("frequent-queries:min-users=2=3", '`min_users` cannot be "2=3"'),
    ],
)  # fmt: skip
def test_mistakes_are_explained(line: str, says: str) -> None:
    with pytest.raises(UsageError) as told:
        parse_method(line)
    assert says in str(told.value)
    assert told.value.exit_code == 2


@pytest.mark.parametrize("value", [True, 2.0, None, [5], "x", 0, b"5"])
def test_values_of_another_type_are_refused(value: object) -> None:
    with pytest.raises(ParameterError):
        FrequentQueries(min_users=value)


def test_numbers() -> None:
    share = Parameter("share", float, 0.5, "a share", min=0, max=1)
    assert share.parse(1) == 1.0
    assert isinstance(share.parse(1), float)
    assert share.parse("0.25") == 0.25
    assert share.allowed == "a number from 0 to 1"
    for wrong in (-0.1, 1.1, float("nan"), float("inf"), "nan", True, None):
        with pytest.raises(ParameterError, match="`share`"):
            share.parse(wrong)


def test_a_number_may_have_words_for_special_values() -> None:
    @dataclass(frozen=True)
    class Example(Parametrized):
        name: ClassVar[str] = "example"
        size: int | Literal["auto", "best"] = parameter("auto", "a size", min=2, max=9)

    (size,) = Example.parameters()
    assert (size.type, size.words) == (int, ("auto", "best"))
    assert size.allowed == "auto, best, or a whole number from 2 to 9"
    assert [size.parse(value) for value in ("auto", "best", "7", 7)] == ["auto", "best", 7, 7]
    assert str(Example(size="best")) == "example:size=best"
    assert str(Example()) == "example"
    for wrong in (1, 10, "1", "Auto", "", "auto ", True, 2.0, None, ["auto"]):
        with pytest.raises(ParameterError, match="`size`"):
            size.parse(wrong)


def test_texts_are_taken_as_they_are() -> None:
    text = Parameter("taxonomy", str, "wordnet", "which taxonomy")
    assert text.parse("7") == "7"
    assert text.allowed == "a text"


def test_a_method_cannot_be_changed() -> None:
    method = FrequentQueries(min_users=3)
    with pytest.raises(FrozenInstanceError):
        method.min_users = 1
    assert method == FrequentQueries(min_users="3")
    assert hash(method) == hash(FrequentQueries(min_users=3))


def test_a_parameter_by_its_option_or_its_name() -> None:
    with pytest.raises(ParameterError, match="no parameter `max_share`"):
        FrequentQueries.from_params({"max_share": 3})
    assert METHODS.find("frequent-queries") is FrequentQueries


def test_internal_parameters_are_on_cards_and_in_no_help() -> None:
    from queryveil.cli.catalog import _describe
    from queryveil.cli.options import _method_parameters

    kind = METHODS["semantic-replacement"]
    internal = {declared.name for declared in kind.parameters() if declared.internal}
    assert internal == {"previous_epsilon", "continues"}
    assert internal <= set(kind().public_params())
    shown = {option.name for option in _method_parameters()}
    assert "epsilon" in shown
    assert not internal & shown
    assert not internal & {parameter.name for parameter in _describe(kind).parameters}


@pytest.mark.parametrize("kind", [*METHODS.values(), *MEASURES.values()], ids=[*METHODS, *MEASURES])
def test_notebooks_show_every_parameter_with_its_help(kind: type[Parametrized]) -> None:
    """Shift-tab in a notebook shows signature and docstring as Python has them."""
    shown = inspect.signature(kind).parameters
    assert [(name, of.default) for name, of in shown.items()] == [
        (declared.name, declared.default) for declared in kind.parameters()
    ]
    for declared in kind.user_parameters():
        assert f"    {declared.name}: " in (kind.__doc__ or "")
        assert declared.help[1:].rstrip(".") in (kind.__doc__ or "")


def test_a_misspelled_parameter_is_corrected_when_an_object_is_built() -> None:
    with pytest.raises(ParameterError, match="did you mean `min_users`") as caught:
        FrequentQueries(min_user=3)  # type: ignore[call-arg]
    assert caught.value.parameter == "min_user"
    method = FrequentQueries(min_users=3)
    assert pickle.loads(pickle.dumps(method)) == copy.deepcopy(method) == method
