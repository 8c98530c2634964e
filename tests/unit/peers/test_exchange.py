"""The exchange, step by step: what it wants done, and what it takes no notice of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from queryveil.peers.actions import Broken, Deliver, Nobody, Send, Submit
from queryveil.peers.core import Settings
from queryveil.peers.errands import Limits, Stage, Tally, Waits
from queryveil.peers.exchange import Exchange
from queryveil.peers.messages import Accepted, Answer, Failed, Query, Refused, Request, Result

PAGE = (Result("A page", "https://example.org/"),)
ONE, TWO = "1" * 32, "2" * 32
WAITS = Waits(reply=2, engine=10, hop=2, own=60, owner=300)


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


class Draws:
    """Draws what it is told, then always the same."""

    def __init__(self, *told: float, then: float = 0.99) -> None:
        self.told, self.then = list(told), then

    def __call__(self) -> float:
        return self.told.pop(0) if self.told else self.then


def made(*friends: str, draws: Any = None, hops: int = 3, **more: Any) -> tuple[Exchange, Clock]:
    """Make an exchange that never submits by its own draw, and whose ids are 1, 2, ..."""
    clock = Clock()
    ids: Iterator[str] = iter(str(number) * 32 for number in range(1, 10))
    peer = Exchange(Settings(hops=hops), clock, draws or Draws(), ids.__next__, WAITS, **more)
    for friend in friends:
        peer.came(friend)
    return peer, clock


def test_a_friend_gets_the_text_only_after_she_accepted() -> None:
    peer, _ = made("ann")
    number, actions = peer.ask("cats")
    assert actions == [Send("ann", Request(ONE))]
    (send,) = peer.received("ann", Accepted(ONE))
    assert send == Send("ann", Query(ONE, 3, "cats"))  # it began with 2: the draw was high
    assert peer.received("ann", Answer(ONE, PAGE)) == [Deliver(number, PAGE, "ann")]
    assert peer.counts("ann") == (1, 1)
    assert (peer.open, peer.tally("ann").carried) == (0, 1)


def test_a_relay_hands_on_and_gives_the_answer_back() -> None:
    peer, _ = made("ann", "bob", draws=Draws(0.5))
    assert peer.received("ann", Request(TWO)) == [Send("ann", Accepted(TWO))]
    assert peer.received("ann", Query(TWO, 1, "cats")) == [Send("bob", Request(ONE))]
    assert peer.received("bob", Accepted(ONE)) == [Send("bob", Query(ONE, 2, "cats"))]
    assert peer.received("bob", Answer(ONE, PAGE)) == [Send("ann", Answer(TWO, PAGE))]
    assert (peer.tally("ann").served, peer.tally("bob").carried) == (1, 0)


def test_the_last_hop_submits() -> None:
    peer, _ = made("ann", "bob", draws=Draws(0.5))
    peer.received("ann", Request(TWO))
    assert peer.received("ann", Query(TWO, 3, "cats")) == [Submit(1, "cats")]
    assert peer.submitted(1, PAGE) == [Send("ann", Answer(TWO, PAGE))]
    assert peer.submitted(1, PAGE) == []


def test_hops_above_the_limit_fail() -> None:
    peer, _ = made("ann", "bob", draws=Draws(0.5))
    peer.received("ann", Request(TWO))
    assert peer.received("ann", Query(TWO, 4, "cats")) == [Send("ann", Failed(TWO))]
    assert peer.open == 0


@pytest.mark.parametrize("silent", [False, True], ids=["refused", "silent"])
def test_the_next_is_asked_and_then_the_owner(silent: bool) -> None:
    peer, clock = made("ann", "bob")

    def no(friend: str, name: str) -> list[Any]:
        if not silent:
            return peer.received(friend, Refused(name))
        clock.now += 2
        return peer.wake()

    number, (first,) = peer.ask("cats")
    (second,) = no(first.friend, ONE)
    assert {first.friend, second.friend} == {"ann", "bob"}
    assert no(second.friend, TWO) == [Nobody(number)]
    assert peer.counts("ann") == peer.counts("bob") == (1, 0)
    assert peer.received(first.friend, Accepted(ONE)) == []  # too late
    assert peer.insist(number) == [Submit(number, "cats")]
    assert peer.insist(number) == []
    assert peer.submitted(number, PAGE) == [Deliver(number, PAGE, None)]


def test_her_own_share_needs_no_question() -> None:
    peer, _ = made("ann", draws=Draws(0.9, 0.0))
    assert peer.ask("cats")[1] == [Submit(1, "cats")]
    assert peer.submitted(1, None) == [Broken(1)]


def test_without_friends_she_is_asked() -> None:
    peer, clock = made()
    assert peer.ask("cats") == (1, [Nobody(1)])
    clock.now = 301
    assert peer.wake() == []
    assert (peer.open, peer.insist(1)) == (0, [])


@pytest.mark.parametrize("way", ["failed", "went", "silent"])
def test_a_friend_who_had_the_text_and_is_lost_is_passed_over(way: str) -> None:
    peer, clock = made("ann", "bob")
    number, (first,) = peer.ask("cats")
    peer.received(first.friend, Accepted(ONE))
    if way == "failed":
        (second,) = peer.received(first.friend, Failed(ONE))
    elif way == "went":
        (second,) = peer.went(first.friend)
    else:
        clock.now = 12  # the engine's time, and that of the last hop
        (second,) = peer.wake()
    assert second.message == Request(TWO)
    assert second.friend != first.friend
    assert peer.tally(first.friend).lost == 1
    assert peer.counts(first.friend) == (1, 0)  # accepting alone earns no trust
    peer.received(second.friend, Accepted(TWO))
    assert peer.received(second.friend, Answer(TWO, PAGE)) == [Deliver(number, PAGE, second.friend)]


def test_a_repeated_request_is_ignored_for_good() -> None:
    peer, _ = made("ann", "bob", draws=Draws(then=0.0))
    assert len(peer.received("ann", Request(ONE))) == 1
    assert peer.received("ann", Request(ONE)) == []
    peer.received("ann", Query(ONE, 1, "cats"))
    peer.submitted(1, PAGE)
    assert peer.received("ann", Request(ONE)) == []
    assert peer.received("ann", Query(ONE, 1, "cats")) == []
    assert (peer.tally("ann").ignored, peer.tally("ann").stray) == (2, 1)


def test_an_open_query_is_remembered_longer_than_ids_are() -> None:
    peer, _ = made("ann", draws=Draws(then=0.0), limits=Limits(ids=1))
    assert len(peer.received("ann", Request(ONE))) == 1
    assert len(peer.received("ann", Request(TWO))) == 1
    assert peer.received("ann", Request(ONE)) == []
    assert peer.open == 2


def test_forged_messages_change_nothing() -> None:
    """An answer counts only from whom was asked, for what she was asked, when it is due."""
    peer, _ = made("ann", "bob")
    number, (first,) = peer.ask("cats")
    other = "bob" if first.friend == "ann" else "ann"
    forged = [Accepted(ONE), Refused(ONE), Answer(ONE, PAGE), Failed(ONE), Query(ONE, 1, "dogs")]
    assert [peer.received(other, message) for message in forged] == [[]] * 5
    assert peer.received(first.friend, Answer(ONE, PAGE)) == []  # she has no text yet
    assert peer.received(first.friend, Answer(TWO, PAGE)) == []
    assert peer.received("stranger", Request(TWO)) == []
    assert peer.received(first.friend, Accepted(ONE))
    assert peer.received(other, Answer(ONE, PAGE)) == []
    assert peer.received(first.friend, Answer(ONE, PAGE)) == [Deliver(number, PAGE, first.friend)]
    assert peer.tally(other).stray == 6


def test_a_friend_has_so_many_queries_at_a_time() -> None:
    peer, _ = made("ann", "bob", draws=Draws(then=0.0), limits=Limits(open=2))
    for name in ("3" * 32, "4" * 32):
        assert peer.received("ann", Request(name)) == [Send("ann", Accepted(name))]
    assert peer.received("ann", Request("5" * 32)) == [Send("ann", Refused("5" * 32))]
    assert peer.received("bob", Request("5" * 32)) == [Send("bob", Accepted("5" * 32))]


def test_a_text_that_never_comes_is_forgotten() -> None:
    peer, clock = made("ann", draws=Draws(0.5))
    peer.received("ann", Request(ONE))
    clock.now = 2
    assert peer.wake() == []
    assert (peer.open, peer.tally("ann").unclaimed) == (0, 1)
    assert peer.received("ann", Query(ONE, 1, "cats")) == []


def test_an_engine_that_never_answers_fails_in_time() -> None:
    peer, clock = made("ann", draws=Draws(then=0.0))
    peer.received("ann", Request(ONE))
    assert peer.received("ann", Query(ONE, 2, "cats")) == [Submit(1, "cats")]
    clock.now = 14  # before this the friend has not given up
    assert peer.wake() == [Send("ann", Failed(ONE))]
    assert peer.submitted(1, PAGE) == []


def test_trust_outlives_absence_and_restart() -> None:
    peer, _ = made("ann")
    peer.ask("cats")
    peer.received("ann", Refused(ONE))
    peer.went("ann")
    assert (peer.present, peer.counts("ann"), peer.trust("ann")) == ((), (1, 0), 0.5)
    peer.came("ann")
    assert peer.counts("ann") == (1, 0)
    again, _ = made()
    again.remember("ann", (9, 4), Tally(asked=9))
    again.came("ann")
    assert (again.trust("ann"), again.tally("ann").asked) == (0.5, 9)


def test_who_went_twice_is_no_matter() -> None:
    peer, _ = made("ann")
    assert peer.went("ann") == peer.went("ann") == []


def test_stages_say_what_is_waited_for() -> None:
    assert len({stage.value for stage in Stage}) == 5


def test_a_friend_has_so_many_queries_a_minute() -> None:
    peer, clock = made("ann", draws=Draws(then=0.0), limits=Limits(open=99, minute=3))

    def asked(number: int) -> object:
        (send,) = peer.received("ann", Request(f"{number:032x}"))
        return type(send.message)

    assert [asked(n) for n in range(5)] == [Accepted] * 3 + [Refused] * 2
    clock.now = 20.5  # a third of a minute: one more
    assert [asked(n) for n in range(5, 7)] == [Accepted, Refused]
    assert (peer.tally("ann").taken, peer.tally("ann").refused) == (4, 3)


def test_a_relay_hands_a_failure_back_and_asks_nobody_else() -> None:
    peer, _ = made("ann", "bob", "cleo", draws=Draws(0.5))
    peer.received("ann", Request(TWO))
    (asked,) = peer.received("ann", Query(TWO, 1, "cats"))
    peer.received(asked.friend, Accepted(ONE))
    assert peer.received(asked.friend, Failed(ONE)) == [Send("ann", Failed(TWO))]
    assert peer.open == 0


def test_the_owner_is_asked_after_a_few_failures() -> None:
    peer, _ = made("ann", "bob", "cleo", "dora", "eve")
    number, (send,) = peer.ask("cats")
    asked = []
    while isinstance(send, Send):
        asked.append(send.friend)
        peer.received(send.friend, Accepted(send.message.id))
        (send,) = peer.received(send.friend, Failed(send.message.id))
    assert send == Nobody(number)
    assert len(set(asked)) == len(asked) == 3
