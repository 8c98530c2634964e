"""The exchange of queries between one peer and her friends, without network, disk or clock.

Whoever runs it says what happened (a friend came or went, a message arrived, time passed), and
gets the actions to take. All choices are those of `core`. A query is in one place at a time: it
goes to the next friend only after the last one refused, was silent or went away. So it is
submitted once, unless a friend who had its text was lost: that is counted as `lost`.

**One friend at most reads a text.** Whoever has taken a query and fails is its last: a relay hands
the failure back, the owner is asked. Else two friends, one who fails and one who is asked next,
would know an own query. And an own query and a relayed one draw count and time alike (`start`).

A query that comes back to a peer is served as any other. To recognise it would tell the friend
who sent it that the peer knows it. A loop ends by the draws of those who hand it on: each submits
it by chance, and must at the highest count.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from math import ceil
from secrets import SystemRandom, token_hex

from .history import Memory, Shares
from .messages import Accepted, Answer, Message, NoAnswer, Query, Refused, Request, Result
from .policy import Peer, ProtocolSettings, draw_initial_hops
from .state import (
    Action,
    Busy,
    Deliver,
    EngineFailed,
    Limits,
    NoRelayFound,
    PeerStats,
    PendingQuery,
    PendingTable,
    QueryState,
    Send,
    Submit,
    Timeouts,
)

_SYSTEM = SystemRandom()  # the operating system's
_WAITS, _LIMITS = Timeouts(), Limits()
_ROOM = 0.75  # of what a friend takes, what she is asked: clocks and messages differ a little


class Exchange:
    """One peer's part in the protocol. Every method gives the actions to take, in order."""

    def __init__(
        self,
        settings: ProtocolSettings,
        clock: Callable[[], float],
        draw: Callable[[], float] = _SYSTEM.random,
        fresh: Callable[[], str] = lambda: token_hex(16),
        waits: Timeouts = _WAITS,
        limits: Limits = _LIMITS,
    ) -> None:
        self._settings, self._clock, self._draw, self._fresh = settings, clock, draw, fresh
        self._waits, self._limits = waits, limits
        self._peer: Peer[str] = Peer([], settings, draw)
        self._memory = Memory(self._peer, clock, waits.half)
        self._used: dict[str, OrderedDict[str, None]] = {}  # ids that friends have used
        self._theirs = Shares(limits.minute, clock)  # what is left of a friend's minute
        self._ours = Shares(_ROOM * limits.minute, clock)  # ... and of ours with her
        self._book = PendingTable()
        self._usual = 1.0  # seconds that an own query takes
        self.shed = 0  # own queries for which there was no room

    # --- what is known -----------------------------------------------------------------------

    @property
    def online_friends(self) -> tuple[str, ...]:
        """The friends who can be asked now."""
        return self._peer.friends

    @property
    def open_count(self) -> int:
        """How many queries are under way."""
        return len(self._book.errands)

    def stats(self, friend: str) -> PeerStats:
        """Give what passed between this peer and a friend."""
        return self._memory.tally(friend)

    def counts(self, friend: str) -> tuple[float, float]:
        """Return how often a friend was asked, and how often she served; old counts fade."""
        return self._memory.counts(friend)

    def trust(self, friend: str) -> float:
        """Give the trust in a friend, present or not."""
        asked, took = self.counts(friend)
        return (took + 1) / (asked + 1)

    def restore(
        self, friend: str, counts: tuple[float, float], tally: PeerStats, age: float = 0.0
    ) -> None:
        """Take up what is known of a friend from an earlier run, so many seconds ago."""
        self._memory.remember(friend, counts, tally, age)

    def next_deadline(self) -> float | None:
        """Give the time at which `wake` must be called, if any."""
        return self._book.next_deadline()

    # --- what happens ------------------------------------------------------------------------

    def friend_connected(self, friend: str) -> list[Action]:
        """A friend can be reached now."""
        self._memory.came(friend)
        return []

    def friend_disconnected(self, friend: str) -> list[Action]:
        """A friend cannot be reached any more: what she was to do is asked of others."""
        if friend not in self._peer.friends:
            return []
        waiting = [(one, one.stage) for one in self._book.waiting_on(friend)]
        for errand, _ in waiting:
            self._let_down(errand)
        for errand in self._book.sent_by(friend):
            if errand.stage is QueryState.OFFERED:
                self._close(errand)
        self._memory.went(friend)
        return [one for errand, stage in waiting for one in self._pass_over(errand, stage)]

    def start_query(self, text: str, person: bool = True) -> tuple[int, list[Action]]:
        """The owner has a query, as a person or by a program. Its number comes with the answer."""
        self._memory.fade()
        errand = self._book.open(QueryState.ASKING)
        places = self._limits.own - (0 if person else self._limits.reserved)
        if self._book.under_way() > max(1, places):
            return errand.number, self._shed(errand, self._usual)
        errand.text, errand.hops = text, draw_initial_hops(self._settings, self._draw)
        errand.since = self._clock()
        errand.until = errand.since + self._patience(errand.hops - 1)
        errand.route = self._peer.route(None, errand.hops)
        return errand.number, self._go_on(errand)

    def submit_directly(self, number: int) -> list[Action]:
        """The owner wants to submit a query herself, which nobody took."""
        errand = self._book.errands.get(number)
        if errand is None or errand.stage is not QueryState.NOBODY:
            return []
        errand.since = self._clock()
        errand.until = errand.since + self._waits.own
        return self._submit(errand)

    def message_received(self, friend: str, message: Message) -> list[Action]:
        """A message came from a friend; the link has proved that it is hers."""
        if friend not in self._peer.friends:
            return []
        self._memory.fade()
        if isinstance(message, Request):
            return self._requested(friend, message)
        given = isinstance(message, Query)
        errand = (self._book.incoming if given else self._book.outgoing).get((friend, message.id))
        wanted = {
            Query: QueryState.OFFERED, Accepted: QueryState.ASKING, Refused: QueryState.ASKING,
            Answer: QueryState.HANDED, NoAnswer: QueryState.HANDED,
        }[type(message)]  # fmt: skip
        if errand is None or errand.stage is not wanted:
            self.stats(friend).stray += 1  # forged, repeated, or too late
            return []
        return self._heard(errand, message)

    def is_own(self, number: int) -> bool:
        """Whether an open query is the owner's."""
        errand = self._book.errands.get(number)
        return errand is not None and errand.own

    def is_submitting(self, number: int) -> bool:
        """Whether a query is still waited for that was to be submitted."""
        errand = self._book.errands.get(number)
        return errand is not None and errand.stage is QueryState.SUBMITTING

    def engine_replied(self, number: int, results: tuple[Result, ...] | None) -> list[Action]:
        """The search engine answered, or did not (None)."""
        errand = self._book.errands.get(number)
        if errand is None or errand.stage is not QueryState.SUBMITTING:
            return []
        return self._fail(errand) if results is None else self._finish(errand, results)

    def handle_timeouts(self) -> list[Action]:
        """Time has passed."""
        actions: list[Action] = []
        while (errand := self._book.pop_expired(self._clock())) is not None:
            actions += self._expired(errand)
        return actions

    # --- a friend's query --------------------------------------------------------------------

    def _requested(self, friend: str, message: Request) -> list[Action]:
        tally = self.stats(friend)
        tally.requests += 1
        used = self._used.setdefault(friend, OrderedDict())
        if message.id in used or (friend, message.id) in self._book.incoming:
            tally.ignored += 1
            return []
        used[message.id] = None
        if len(used) > self._limits.ids:
            used.popitem(last=False)
        full = self._book.open_per_sender[friend] >= self._limits.open or not self._theirs.take(
            friend
        )
        if full or not self._peer.accepts(friend):
            tally.refused += 1
            return [Send(friend, Refused(message.id))]
        tally.taken += 1
        errand = self._book.open(QueryState.OFFERED, friend, message.id)
        self._book.wait(errand, QueryState.OFFERED, self._clock() + self._waits.reply)
        return [Send(friend, Accepted(message.id))]

    def _heard(self, errand: PendingQuery, message: Message) -> list[Action]:
        match message:
            case Query():
                return self._take(errand, message)
            case Accepted():
                self._book.wait(
                    errand, QueryState.HANDED, self._clock() + self._patience(errand.hops)
                )
                query = Query(errand.friend_id, errand.hops + 1, errand.text)
                return [Send(str(errand.friend), query)]
            case Answer():
                return self._answered(errand, message.results)
            case _:
                stage = errand.stage
                self._let_down(errand)
                return self._pass_over(errand, stage)

    def _take(self, errand: PendingQuery, message: Query) -> list[Action]:
        if message.hops > self._settings.max_hops:
            return self._fail(errand)
        # The count is drawn anew as for an own query: one that only rose would tell whose it is.
        last = message.hops == self._settings.max_hops
        errand.hops = message.hops if last else draw_initial_hops(self._settings, self._draw)
        errand.text = message.text
        errand.wanted = self._clock() + self._patience(message.hops - 1)
        errand.until = self._clock() + self._patience(errand.hops - 1)
        errand.route = self._peer.route(errand.sender, errand.hops)
        return self._go_on(errand)

    def _patience(self, hops: int) -> float:
        """Return how long to wait for an answer: longer than an engine takes, and by the count."""
        return self._waits.engine + self._waits.hop * (self._settings.max_hops - hops)

    # --- the way of a query ------------------------------------------------------------------

    def _go_on(self, errand: PendingQuery) -> list[Action]:
        """Ask the next friend, or submit it; the owner is asked when no friend is left."""
        route = errand.route
        while route is not None and (friend := route.next_hop()) is not None:
            if self._may_ask(friend):
                return self._request(errand, friend)
        if not errand.own or (route is not None and route.chosen):
            return self._submit(errand)
        waits = [self._ours.wait(friend) for friend in self.online_friends]
        if waits and not errand.asked:  # friends are there, and this peer has asked enough of them
            return self._shed(errand, max(min(waits), self._usual))
        return self._give_up(errand)

    def _may_ask(self, friend: str) -> bool:
        """Return whether a friend is here, and this peer's share of her is not used up."""
        room = max(1, int(_ROOM * self._limits.open))
        here = friend in self._peer.friends and self._book.asking[friend] < room
        return here and self._ours.take(friend)

    def _pass_over(self, errand: PendingQuery, stage: QueryState) -> list[Action]:
        """Go on after a friend who did not serve, unless she has the text: then it ends here.

        An engine that is down stays down: were each peer to try its other friends, one query would
        be submitted dozens of times. And it must not matter whose query it is (see above).
        """
        over = stage is QueryState.HANDED or self._clock() >= errand.until
        return self._give_up(errand) if over else self._go_on(errand)

    def _give_up(self, errand: PendingQuery) -> list[Action]:
        """Hand a failure back, or ask the owner; of those not yet decided the oldest is over."""
        if not errand.own:
            return self._fail(errand)
        self._book.wait(errand, QueryState.NOBODY, self._clock() + self._waits.owner)
        for old in self._book.undecided()[: -self._limits.undecided]:
            self._close(old)
        return [NoRelayFound(errand.number)]

    def _shed(self, errand: PendingQuery, seconds: float) -> list[Action]:
        self._close(errand)
        self.shed += 1
        return [Busy(errand.number, max(1, ceil(seconds)))]

    def _request(self, errand: PendingQuery, friend: str) -> list[Action]:
        self._book.ask(errand, friend, self._fresh())
        self.stats(friend).asked += 1
        errand.asked += 1
        self._book.wait(errand, QueryState.ASKING, self._clock() + self._waits.reply)
        return [Send(friend, Request(errand.friend_id))]

    def _submit(self, errand: PendingQuery) -> list[Action]:
        errand.friend = None
        if self._clock() >= errand.wanted:
            return self._fail(errand)
        self._book.wait(errand, QueryState.SUBMITTING, errand.wanted)
        return [Submit(errand.number, errand.text)]

    def _answered(self, errand: PendingQuery, results: tuple[Result, ...]) -> list[Action]:
        friend = str(errand.friend)
        self._peer.record_reply(friend, accepted=True)
        self.stats(friend).answered += 1
        self.stats(friend).carried += errand.own
        self._book.release(errand)
        return self._finish(errand, results)

    def _let_down(self, errand: PendingQuery) -> None:
        """Count that the friend who was asked did not serve: she refused, failed or is silent."""
        friend = str(errand.friend)
        self._peer.record_reply(friend, accepted=False)
        if errand.stage is QueryState.HANDED:
            self.stats(friend).lost += 1
        else:
            self.stats(friend).turned_down += 1
        self._book.release(errand)

    # --- the end of a query ------------------------------------------------------------------

    def _finish(self, errand: PendingQuery, results: tuple[Result, ...]) -> list[Action]:
        self._close(errand, served=True)
        if errand.sender is None:
            self._usual += 0.1 * (self._clock() - errand.since - self._usual)
            return [Deliver(errand.number, results, errand.friend)]
        return self._reply(errand, Answer(errand.sender_id, results))

    def _fail(self, errand: PendingQuery) -> list[Action]:
        self._close(errand)
        if errand.sender is None:
            return [EngineFailed(errand.number)]
        return self._reply(errand, NoAnswer(errand.sender_id))

    def _reply(self, errand: PendingQuery, message: Message) -> list[Action]:
        here = errand.sender in self._peer.friends
        return [Send(str(errand.sender), message)] if here else []

    def _expired(self, errand: PendingQuery) -> list[Action]:
        stage = errand.stage
        if errand.friend_id:
            self._let_down(errand)
        if stage in (QueryState.OFFERED, QueryState.NOBODY):
            self._close(errand)
            return []
        return (
            self._fail(errand) if stage is QueryState.SUBMITTING else self._pass_over(errand, stage)
        )

    def _close(self, errand: PendingQuery, served: bool = False) -> None:
        """End an errand, and count how it ended."""
        self._book.close(errand)
        if errand.sender is None:
            return
        tally = self.stats(errand.sender)
        if errand.stage is QueryState.OFFERED and not errand.text:
            tally.unclaimed += 1
        else:
            got = served and errand.sender in self._peer.friends
            tally.served += got
            tally.failed += not got
