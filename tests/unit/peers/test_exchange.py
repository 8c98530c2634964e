"""The exchange, step by step: what it wants done, and what it takes no notice of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from queryveil.peers.protocol.exchange import Exchange
from queryveil.peers.protocol.messages import (
    Accepted,
    Answer,
    NoAnswer,
    Query,
    Refused,
    Request,
    Result,
)
from queryveil.peers.protocol.policy import ProtocolSettings
from queryveil.peers.protocol.state import (
    Busy,
    Deliver,
    EngineFailed,
    Limits,
    NoRelay,
    PeerStats,
    QueryState,
    Send,
    Submit,
    Timeouts,
)

PAGE = (Result("A page", "https://example.org/"),)
ONE, TWO = "1" * 32, "2" * 32
WAITS = Timeouts(reply=2, engine=10, hop=2, own=60, owner=300)


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
    peer = Exchange(
        ProtocolSettings(max_hops=hops), clock, draws or Draws(), ids.__next__, WAITS, **more
    )
    for friend in friends:
        peer.friend_connected(friend)
    return peer, clock


def test_a_friend_gets_the_text_only_after_she_accepted() -> None:
    peer, _ = made("ann")
    number, actions = peer.start_query("cats")
    assert actions == [Send("ann", Request(ONE))]
    (send,) = peer.message_received("ann", Accepted(ONE))
    assert send == Send("ann", Query(ONE, 3, "cats"))  # it began with 2: the draw was high
    assert peer.message_received("ann", Answer(ONE, PAGE)) == [Deliver(number, PAGE, "ann")]
    assert peer.counts("ann") == (1, 1)
    assert (peer.open_count, peer.stats("ann").carried) == (0, 1)


def test_a_relay_hands_on_and_gives_the_answer_back() -> None:
    peer, _ = made("ann", "bob", draws=Draws(0.5))
    assert peer.message_received("ann", Request(TWO)) == [Send("ann", Accepted(TWO))]
    assert peer.message_received("ann", Query(TWO, 1, "cats")) == [Send("bob", Request(ONE))]
    (send,) = peer.message_received("bob", Accepted(ONE))
    assert send == Send("bob", Query(ONE, 3, "cats"))  # it goes on from 2: the draw was high
    assert peer.message_received("bob", Answer(ONE, PAGE)) == [Send("ann", Answer(TWO, PAGE))]
    assert (peer.stats("ann").served, peer.stats("bob").carried) == (1, 0)


def test_the_last_hop_submits() -> None:
    peer, _ = made("ann", "bob", draws=Draws(0.5))
    peer.message_received("ann", Request(TWO))
    assert peer.message_received("ann", Query(TWO, 3, "cats")) == [Submit(1, "cats")]
    assert peer.engine_replied(1, PAGE) == [Send("ann", Answer(TWO, PAGE))]
    assert peer.engine_replied(1, PAGE) == []


def test_hops_above_the_limit_fail() -> None:
    peer, _ = made("ann", "bob", draws=Draws(0.5))
    peer.message_received("ann", Request(TWO))
    assert peer.message_received("ann", Query(TWO, 4, "cats")) == [Send("ann", NoAnswer(TWO))]
    assert peer.open_count == 0


@pytest.mark.parametrize("silent", [False, True], ids=["refused", "silent"])
def test_the_next_is_asked_and_then_the_owner(silent: bool) -> None:
    peer, clock = made("ann", "bob")

    def no(friend: str, name: str) -> list[Any]:
        if not silent:
            return peer.message_received(friend, Refused(name))
        clock.now += 2
        return peer.handle_timeouts()

    number, (first,) = peer.start_query("cats")
    (second,) = no(first.friend, ONE)
    assert {first.friend, second.friend} == {"ann", "bob"}
    assert no(second.friend, TWO) == [NoRelay(number)]
    assert peer.counts("ann") == peer.counts("bob") == (1, 0)
    assert peer.message_received(first.friend, Accepted(ONE)) == []  # too late
    assert peer.submit_directly(number) == [Submit(number, "cats")]
    assert peer.submit_directly(number) == []
    assert peer.engine_replied(number, PAGE) == [Deliver(number, PAGE, None)]


def test_her_own_share_needs_no_question() -> None:
    peer, _ = made("ann", draws=Draws(0.9, 0.0))
    assert peer.start_query("cats")[1] == [Submit(1, "cats")]
    assert peer.engine_replied(1, None) == [EngineFailed(1)]


def test_without_friends_she_is_asked() -> None:
    peer, clock = made()
    assert peer.start_query("cats") == (1, [NoRelay(1)])
    clock.now = 301
    assert peer.handle_timeouts() == []
    assert (peer.open_count, peer.submit_directly(1)) == (0, [])


@pytest.mark.parametrize("way", ["failed", "went", "silent"])
def test_a_friend_who_had_the_text_and_is_lost_is_the_last_to_read_it(way: str) -> None:
    peer, clock = made("ann", "bob", "cleo")
    number, (first,) = peer.start_query("cats")
    peer.message_received(first.friend, Accepted(ONE))
    if way == "failed":
        actions = peer.message_received(first.friend, NoAnswer(ONE))
    elif way == "went":
        actions = peer.friend_disconnected(first.friend)
    else:
        clock.now = 12  # the engine's time, and that of the last hop
        actions = peer.handle_timeouts()
    assert actions == [NoRelay(number)]
    assert peer.stats(first.friend).lost == 1
    assert peer.counts(first.friend) == (1, 0)  # accepting alone earns no trust
    assert peer.submit_directly(number) == [Submit(number, "cats")]


@pytest.mark.parametrize("way", ["failed", "went", "silent"])
def test_a_relay_hands_any_failure_back(way: str) -> None:
    peer, clock = made("ann", "bob", "cleo", draws=Draws(0.5))
    peer.message_received("ann", Request(TWO))
    (asked,) = peer.message_received("ann", Query(TWO, 1, "cats"))
    peer.message_received(asked.friend, Accepted(ONE))
    if way == "failed":
        actions = peer.message_received(asked.friend, NoAnswer(ONE))
    elif way == "went":
        actions = peer.friend_disconnected(asked.friend)
    else:
        clock.now = 14  # before ann has given up, who waits for 16
        actions = peer.handle_timeouts()
    assert actions == [Send("ann", NoAnswer(TWO))]
    assert peer.open_count == 0


def test_an_own_query_has_the_time_of_a_relayed_one_of_its_count() -> None:
    """Else friends who are all silent would see by the length of the search whose it is."""
    friends = [f"f{number}" for number in range(12)]

    def asked_until(own: bool) -> list[float]:
        peer, clock = made("ann", *friends, draws=Draws(0.99 if own else 0.5))
        if own:  # it begins with 2
            actions = peer.start_query("cats")[1]
        else:
            peer.message_received("ann", Request("a" * 32))
            actions = peer.message_received("ann", Query("a" * 32, 2, "cats"))
        times = []
        while actions and isinstance(actions[0], Send) and isinstance(actions[0].message, Request):
            times.append(clock.now)
            clock.now = peer.next_deadline()
            actions = peer.handle_timeouts()
        return times

    assert asked_until(own=True) == asked_until(own=False) == [0, 2, 4, 6, 8, 10, 12]


def test_a_repeated_request_is_ignored_for_good() -> None:
    peer, _ = made("ann", "bob", draws=Draws(then=0.0))
    assert len(peer.message_received("ann", Request(ONE))) == 1
    assert peer.message_received("ann", Request(ONE)) == []
    peer.message_received("ann", Query(ONE, 1, "cats"))
    peer.engine_replied(1, PAGE)
    assert peer.message_received("ann", Request(ONE)) == []
    assert peer.message_received("ann", Query(ONE, 1, "cats")) == []
    assert (peer.stats("ann").ignored, peer.stats("ann").stray) == (2, 1)


def test_an_open_query_is_remembered_longer_than_ids_are() -> None:
    peer, _ = made("ann", draws=Draws(then=0.0), limits=Limits(ids=1))
    assert len(peer.message_received("ann", Request(ONE))) == 1
    assert len(peer.message_received("ann", Request(TWO))) == 1
    assert peer.message_received("ann", Request(ONE)) == []
    assert peer.open_count == 2


def test_forged_messages_change_nothing() -> None:
    """An answer counts only from whom was asked, for what she was asked, when it is due."""
    peer, _ = made("ann", "bob")
    number, (first,) = peer.start_query("cats")
    other = "bob" if first.friend == "ann" else "ann"
    forged = [Accepted(ONE), Refused(ONE), Answer(ONE, PAGE), NoAnswer(ONE), Query(ONE, 1, "dogs")]
    assert [peer.message_received(other, message) for message in forged] == [[]] * 5
    assert peer.message_received(first.friend, Answer(ONE, PAGE)) == []  # she has no text yet
    assert peer.message_received(first.friend, Answer(TWO, PAGE)) == []
    assert peer.message_received("stranger", Request(TWO)) == []
    assert peer.message_received(first.friend, Accepted(ONE))
    assert peer.message_received(other, Answer(ONE, PAGE)) == []
    assert peer.message_received(first.friend, Answer(ONE, PAGE)) == [
        Deliver(number, PAGE, first.friend)
    ]
    assert peer.stats(other).stray == 6


def test_a_friend_has_so_many_queries_at_a_time() -> None:
    peer, _ = made("ann", "bob", draws=Draws(then=0.0), limits=Limits(open=2))
    for name in ("3" * 32, "4" * 32):
        assert peer.message_received("ann", Request(name)) == [Send("ann", Accepted(name))]
    assert peer.message_received("ann", Request("5" * 32)) == [Send("ann", Refused("5" * 32))]
    assert peer.message_received("bob", Request("5" * 32)) == [Send("bob", Accepted("5" * 32))]


def test_a_text_that_never_comes_is_forgotten() -> None:
    peer, clock = made("ann", draws=Draws(0.5))
    peer.message_received("ann", Request(ONE))
    clock.now = 2
    assert peer.handle_timeouts() == []
    assert (peer.open_count, peer.stats("ann").unclaimed) == (0, 1)
    assert peer.message_received("ann", Query(ONE, 1, "cats")) == []


def test_an_engine_that_never_answers_fails_in_time() -> None:
    peer, clock = made("ann", draws=Draws(then=0.0))
    peer.message_received("ann", Request(ONE))
    assert peer.message_received("ann", Query(ONE, 2, "cats")) == [Submit(1, "cats")]
    clock.now = 14  # before this the friend has not given up
    assert peer.handle_timeouts() == [Send("ann", NoAnswer(ONE))]
    assert peer.engine_replied(1, PAGE) == []


def test_trust_outlives_absence_and_restart() -> None:
    peer, _ = made("ann")
    peer.start_query("cats")
    peer.message_received("ann", Refused(ONE))
    peer.friend_disconnected("ann")
    assert (peer.online_friends, peer.counts("ann"), peer.trust("ann")) == ((), (1, 0), 0.5)
    peer.friend_connected("ann")
    assert peer.counts("ann") == (1, 0)
    again, _ = made()
    again.restore("ann", (9, 4), PeerStats(asked=9))
    again.friend_connected("ann")
    assert (again.trust("ann"), again.stats("ann").asked) == (0.5, 9)


def test_who_went_twice_is_no_matter() -> None:
    peer, _ = made("ann")
    assert peer.friend_disconnected("ann") == peer.friend_disconnected("ann") == []


def test_stages_say_what_is_waited_for() -> None:
    assert len({stage.value for stage in QueryState}) == 5


def test_a_friend_has_so_many_queries_a_minute() -> None:
    peer, clock = made("ann", draws=Draws(then=0.0), limits=Limits(open=99, minute=3))

    def asked(number: int) -> object:
        (send,) = peer.message_received("ann", Request(f"{number:032x}"))
        return type(send.message)

    assert [asked(n) for n in range(5)] == [Accepted] * 3 + [Refused] * 2
    clock.now = 20.5  # a third of a minute: one more
    assert [asked(n) for n in range(5, 7)] == [Accepted, Refused]
    assert (peer.stats("ann").taken, peer.stats("ann").refused) == (4, 3)


# --- room, and time ---------------------------------------------------------------------------


def test_unanswered_searches_do_not_lock_the_owner_out() -> None:
    peer, clock = made(limits=Limits(undecided=3))
    numbers = []
    for _ in range(1000):
        number, actions = peer.start_query("cats")
        assert actions == [NoRelay(number)]
        numbers.append(number)
        clock.now += 0.01
    assert peer.open_count == 3
    assert peer.submit_directly(numbers[0]) == []  # the oldest are over
    assert peer.submit_directly(numbers[-1]) == [Submit(numbers[-1], "cats")]


def test_places_are_kept_for_a_person() -> None:
    peer, clock = made("ann", "bob", hops=5, limits=Limits(own=5, reserved=2))
    kinds = [type(peer.start_query("cats", person=False)[1][0]) for _ in range(5)]
    assert kinds == [Send, Send, Send, Busy, Busy]
    kinds = [type(peer.start_query("cats", person=True)[1][0]) for _ in range(4)]
    assert kinds == [Send, Send, Busy, Busy]
    assert (peer.shed, peer.open_count) == (4, 5)
    clock.now = 100
    peer.handle_timeouts()  # friends were silent: the owner is asked, and nothing is under way
    assert type(peer.start_query("cats", person=False)[1][0]) is Send


def test_how_long_to_wait_is_told_as_it_was() -> None:
    peer, clock = made("ann", limits=Limits(own=1, reserved=0))
    for name in ("1", "2", "3", "4", "5", "6", "7", "8"):
        number, _ = peer.start_query("cats")
        assert peer.start_query("dogs")[1] == [Busy(number + 1, AnyCount())]
        peer.message_received("ann", Accepted(name * 32))
        clock.now += 5
        assert peer.message_received("ann", Answer(name * 32, PAGE)) == [
            Deliver(number, PAGE, "ann")
        ]
    number, _ = peer.start_query("cats")
    (busy,) = peer.start_query("dogs")[1]
    assert 2 <= busy.seconds <= 5  # from one second, towards the five that it took


class AnyCount:
    """Equal to any whole number above 0."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, int) and other > 0

    def __hash__(self) -> int:
        return 0


def test_who_has_asked_enough_of_friends_is_told_when_to_ask_again() -> None:
    peer, clock = made("ann", limits=Limits(minute=4))  # of which three are asked
    for name in ("1", "2", "3"):
        peer.start_query("cats")
        peer.message_received("ann", Accepted(name * 32))
        peer.message_received("ann", Answer(name * 32, PAGE))
    number, actions = peer.start_query("cats")
    assert actions == [Busy(number, 20)]
    clock.now = 20.1
    assert type(peer.start_query("cats")[1][0]) is Send
    assert peer.trust("ann") == 1.0


def test_no_more_is_asked_of_a_friend_at_a_time_than_she_takes() -> None:
    peer, _ = made("ann", limits=Limits(open=4))
    kinds = [type(peer.start_query("cats")[1][0]) for _ in range(5)]
    assert kinds == [Send, Send, Send, Busy, Busy]


def test_trust_returns_with_time() -> None:
    peer, clock = made("ann", "bob", draws=Draws(then=0.9))
    for _ in range(8):
        peer._peer.record_reply("ann", accepted=False)
        peer._peer.record_reply("bob", accepted=True)
    peer.friend_disconnected("bob")  # what is known of those who are away fades too
    assert peer.trust("ann") == pytest.approx(1 / 9)
    day = Timeouts().half
    for days, asked in ((1, 4), (2, 2), (5, 0.25)):
        clock.now = days * day
        assert peer.counts("ann") == pytest.approx((asked, 0))
        assert peer.counts("bob") == pytest.approx((asked, asked))
    assert peer.trust("ann") == pytest.approx(0.8)
    assert peer.trust("bob") == 1.0
    peer.friend_connected("bob")
    assert peer.counts("bob") == pytest.approx((0.25, 0.25))


def test_what_was_known_before_a_restart_has_aged() -> None:
    peer, _ = made()
    peer.restore("ann", (8, 4), PeerStats(asked=9), age=2 * Timeouts().half)
    assert peer.counts("ann") == pytest.approx((2, 1))
    assert peer.stats("ann").asked == 9


def test_nothing_is_submitted_that_nobody_waits_for() -> None:
    """The count is drawn anew, and with it the time to ask friends; the sender's stays."""
    peer, clock = made("ann", "bob", draws=Draws(0.0, 0.0))
    peer.message_received("ann", Request(TWO))
    assert peer.message_received("ann", Query(TWO, 2, "cats")) == [Send("bob", Request(ONE))]
    clock.now = 14.5  # she has given up
    assert peer.message_received("bob", Refused(ONE)) == [Send("ann", NoAnswer(TWO))]
