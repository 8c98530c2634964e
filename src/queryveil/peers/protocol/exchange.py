"""The exchange of queries between one peer and its friends, without network, disk or clock.

The caller reports each event (a friend connected or disconnected, a message arrived, time passed)
and receives the actions to take. All random choices are those of `policy`. A query is at one peer
at a time: it goes to the next friend only after the last one refused, timed out or disconnected.
So it is submitted once, unless a friend who had its text was lost: that is counted as `lost`.

**At most one friend reads a text.** After a friend who accepted a query fails, no other friend
receives it: a relay returns the failure, and the owner is asked. Otherwise two friends, one who
fails and one who is asked next, would know an own query. An own query and a relayed query draw
their hop count and their time limit in the same way (`draw_initial_hops`).

A query that comes back to a peer is served like any other. If the peer treated it differently,
the friend who sent it would learn that the peer knows it. A loop ends by the random draws of the
relays: each submits it with a fixed probability, and must submit it at the highest hop count.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from math import ceil
from secrets import SystemRandom, token_hex

from .history import Memory, Quota
from .messages import Accepted, Answer, Message, NoAnswer, Query, Refused, Request, Result
from .policy import Peer, ProtocolSettings, draw_initial_hops
from .state import (
    Action,
    Busy,
    Deliver,
    EngineFailed,
    Limits,
    NoRelay,
    PeerStats,
    PendingQuery,
    PendingTable,
    QueryState,
    Send,
    Submit,
    Timeouts,
)

_SYSTEM = SystemRandom()  # the random source of the operating system
_WAITS, _LIMITS = Timeouts(), Limits()
# The fraction of a friend's limits that this peer uses. Clocks and message counts of the two
# sides differ a little, so using all of it would cause refusals.
_LIMIT_FRACTION = 0.75


class Exchange:
    """One peer's part in the protocol. Methods for events return the actions to take, in order."""

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
        self._incoming_quota = Quota(limits.minute, clock)  # of queries from each friend
        self._outgoing_quota = Quota(_LIMIT_FRACTION * limits.minute, clock)  # to each friend
        self._book = PendingTable()
        self._mean_seconds = 1.0  # that an own query takes, as a moving average
        self.shed = 0  # own queries that were not started because the peer was busy

    # --- state -------------------------------------------------------------------------------

    @property
    def online_friends(self) -> tuple[str, ...]:
        """The friends who can be asked now."""
        return self._peer.friends

    @property
    def open_count(self) -> int:
        """The number of pending queries."""
        return len(self._book.queries)

    def stats(self, friend: str) -> PeerStats:
        """Return the counts of messages between this peer and a friend."""
        return self._memory.tally(friend)

    def counts(self, friend: str) -> tuple[float, float]:
        """Return how often a friend was asked, and how often they served; old counts decay."""
        return self._memory.counts(friend)

    def trust(self, friend: str) -> float:
        """Return the trust in a friend, online or not."""
        requests, accepted = self.counts(friend)
        return (accepted + 1) / (requests + 1)

    def restore(
        self, friend: str, counts: tuple[float, float], tally: PeerStats, age: float = 0.0
    ) -> None:
        """Restore the counts of a friend from an earlier run that ended `age` seconds ago."""
        self._memory.remember(friend, counts, tally, age)

    def next_deadline(self) -> float | None:
        """Return the time at which `handle_timeouts` must be called, if any."""
        return self._book.next_deadline()

    # --- events ------------------------------------------------------------------------------

    def friend_connected(self, friend: str) -> list[Action]:
        """Record that a friend is online."""
        self._memory.came(friend)
        return []

    def friend_disconnected(self, friend: str) -> list[Action]:
        """Record that a friend is offline, and ask other friends to take what they had not."""
        if friend not in self._peer.friends:
            return []
        waiting = [(pending, pending.stage) for pending in self._book.waiting_on(friend)]
        for pending, _ in waiting:
            self._record_failure(pending)
        for pending in self._book.sent_by(friend):
            if pending.stage is QueryState.OFFERED:
                self._close(pending)
        self._memory.went(friend)
        return [
            action
            for pending, stage in waiting
            for action in self._continue_after_failure(pending, stage)
        ]

    def start_query(self, text: str, person: bool = True) -> tuple[int, list[Action]]:
        """Start a query of the owner, and return its number and the actions to take.

        Args:
            person: Whether a browser sent it. Queries of programs cannot use the reserved slots.
        """
        self._memory.fade()
        pending = self._book.open(QueryState.ASKING)
        max_open = self._limits.own - (0 if person else self._limits.reserved)
        if self._book.under_way() > max(1, max_open):
            return pending.number, self._shed(pending, self._mean_seconds)
        pending.text, pending.hops = text, draw_initial_hops(self._settings, self._draw)
        pending.since = self._clock()
        pending.until = pending.since + self._timeout_after(pending.hops - 1)
        pending.route = self._peer.route(None, pending.hops)
        return pending.number, self._ask_next(pending)

    def submit_directly(self, number: int) -> list[Action]:
        """Submit a query under the owner's account that no friend answered, as the owner asked."""
        pending = self._book.queries.get(number)
        if pending is None or pending.stage is not QueryState.NOBODY:
            return []
        pending.since = self._clock()
        pending.until = pending.since + self._waits.own
        return self._submit(pending)

    def message_received(self, friend: str, message: Message) -> list[Action]:
        """Handle a message from a friend; the link has authenticated the sender."""
        if friend not in self._peer.friends:
            return []
        self._memory.fade()
        if isinstance(message, Request):
            return self._handle_request(friend, message)
        by_id = self._book.incoming if isinstance(message, Query) else self._book.outgoing
        pending = by_id.get((friend, message.id))
        expected = {
            Query: QueryState.OFFERED, Accepted: QueryState.ASKING, Refused: QueryState.ASKING,
            Answer: QueryState.HANDED, NoAnswer: QueryState.HANDED,
        }[type(message)]  # fmt: skip
        if pending is None or pending.stage is not expected:
            self.stats(friend).stray += 1  # forged, repeated, or too late
            return []
        return self._handle_reply(pending, message)

    def is_own(self, number: int) -> bool:
        """Return whether a pending query is the owner's."""
        pending = self._book.queries.get(number)
        return pending is not None and pending.own

    def is_submitting(self, number: int) -> bool:
        """Return whether a query is pending that this peer is to submit."""
        pending = self._book.queries.get(number)
        return pending is not None and pending.stage is QueryState.SUBMITTING

    def engine_replied(self, number: int, results: tuple[Result, ...] | None) -> list[Action]:
        """Handle the answer of the search engine, or its failure (None)."""
        pending = self._book.queries.get(number)
        if pending is None or pending.stage is not QueryState.SUBMITTING:
            return []
        return self._fail(pending) if results is None else self._finish(pending, results)

    def handle_timeouts(self) -> list[Action]:
        """Handle all deadlines that have passed."""
        actions: list[Action] = []
        while (pending := self._book.pop_expired(self._clock())) is not None:
            actions += self._handle_timeout(pending)
        return actions

    # --- queries of friends ------------------------------------------------------------------

    def _handle_request(self, friend: str, message: Request) -> list[Action]:
        tally = self.stats(friend)
        tally.requests += 1
        used = self._used.setdefault(friend, OrderedDict())
        if message.id in used or (friend, message.id) in self._book.incoming:
            tally.ignored += 1
            return []
        used[message.id] = None
        if len(used) > self._limits.ids:
            used.popitem(last=False)
        # The order matters: a request above the open limit does not use up the quota.
        at_limit = self._book.open_per_sender[friend] >= self._limits.open
        is_full = at_limit or not self._incoming_quota.take(friend)
        if is_full or not self._peer.accepts(friend):
            tally.refused += 1
            return [Send(friend, Refused(message.id))]
        tally.taken += 1
        pending = self._book.open(QueryState.OFFERED, friend, message.id)
        self._book.wait(pending, QueryState.OFFERED, self._clock() + self._waits.reply)
        return [Send(friend, Accepted(message.id))]

    def _handle_reply(self, pending: PendingQuery, message: Message) -> list[Action]:
        match message:
            case Query():
                return self._accept_query(pending, message)
            case Accepted():
                self._book.wait(
                    pending, QueryState.HANDED, self._clock() + self._timeout_after(pending.hops)
                )
                query = Query(pending.friend_id, pending.hops + 1, pending.text)
                return [Send(str(pending.friend), query)]
            case Answer():
                return self._handle_answer(pending, message.results)
            case _:
                stage = pending.stage
                self._record_failure(pending)
                return self._continue_after_failure(pending, stage)

    def _accept_query(self, pending: PendingQuery, message: Query) -> list[Action]:
        if message.hops > self._settings.max_hops:
            return self._fail(pending)
        # The hop count is drawn anew, as for an own query. A count that only rises would reveal
        # whether a query is the sender's own.
        is_last = message.hops == self._settings.max_hops
        pending.hops = message.hops if is_last else draw_initial_hops(self._settings, self._draw)
        pending.text = message.text
        pending.wanted = self._clock() + self._timeout_after(message.hops - 1)
        pending.until = self._clock() + self._timeout_after(pending.hops - 1)
        pending.route = self._peer.route(pending.sender, pending.hops)
        return self._ask_next(pending)

    def _timeout_after(self, hops: int) -> float:
        """Return the seconds to wait for an answer: the engine's time and that of further hops."""
        return self._waits.engine + self._waits.hop * (self._settings.max_hops - hops)

    # --- routing of a query ------------------------------------------------------------------

    def _ask_next(self, pending: PendingQuery) -> list[Action]:
        """Ask the next friend or submit the query; ask the owner when no friend is left."""
        route = pending.route
        while route is not None and (friend := route.next_hop()) is not None:
            if self._try_quota(friend):
                return self._request(pending, friend)
        if not pending.own or (route is not None and route.chosen):
            return self._submit(pending)
        waits = [self._outgoing_quota.wait(friend) for friend in self.online_friends]
        if waits and not pending.asked:  # friends are online, but their quota is used up
            return self._shed(pending, max(min(waits), self._mean_seconds))
        return self._give_up(pending)

    def _try_quota(self, friend: str) -> bool:
        """Use one query of the quota with a friend; return False if offline or used up."""
        max_open = max(1, int(_LIMIT_FRACTION * self._limits.open))
        is_free = friend in self._peer.friends and self._book.asking[friend] < max_open
        return is_free and self._outgoing_quota.take(friend)

    def _continue_after_failure(self, pending: PendingQuery, stage: QueryState) -> list[Action]:
        """Ask the next friend after one who did not serve, unless that friend has the text.

        A query whose text was sent ends here. An engine that is down stays down: if each peer
        tried its other friends, one query would be submitted dozens of times. It must also make no
        difference whose query it is (see the text of the module).
        """
        is_over = stage is QueryState.HANDED or self._clock() >= pending.until
        return self._give_up(pending) if is_over else self._ask_next(pending)

    def _give_up(self, pending: PendingQuery) -> list[Action]:
        """Return a failure to the sender, or ask the owner; forget the oldest undecided query."""
        if not pending.own:
            return self._fail(pending)
        self._book.wait(pending, QueryState.NOBODY, self._clock() + self._waits.owner)
        for old in self._book.undecided()[: -self._limits.undecided]:
            self._close(old)
        return [NoRelay(pending.number)]

    def _shed(self, pending: PendingQuery, seconds: float) -> list[Action]:
        self._close(pending)
        self.shed += 1
        return [Busy(pending.number, max(1, ceil(seconds)))]

    def _request(self, pending: PendingQuery, friend: str) -> list[Action]:
        self._book.ask(pending, friend, self._fresh())
        self.stats(friend).asked += 1
        pending.asked += 1
        self._book.wait(pending, QueryState.ASKING, self._clock() + self._waits.reply)
        return [Send(friend, Request(pending.friend_id))]

    def _submit(self, pending: PendingQuery) -> list[Action]:
        pending.friend = None
        if self._clock() >= pending.wanted:
            return self._fail(pending)
        self._book.wait(pending, QueryState.SUBMITTING, pending.wanted)
        return [Submit(pending.number, pending.text)]

    def _handle_answer(self, pending: PendingQuery, results: tuple[Result, ...]) -> list[Action]:
        friend = str(pending.friend)
        self._peer.record_reply(friend, accepted=True)
        self.stats(friend).answered += 1
        self.stats(friend).carried += pending.own
        self._book.release(pending)
        return self._finish(pending, results)

    def _record_failure(self, pending: PendingQuery) -> None:
        """Count that the friend who was asked refused, failed or did not reply."""
        friend = str(pending.friend)
        self._peer.record_reply(friend, accepted=False)
        if pending.stage is QueryState.HANDED:
            self.stats(friend).lost += 1
        else:
            self.stats(friend).turned_down += 1
        self._book.release(pending)

    # --- the end of a query ------------------------------------------------------------------

    def _finish(self, pending: PendingQuery, results: tuple[Result, ...]) -> list[Action]:
        self._close(pending, served=True)
        if pending.sender is None:
            self._mean_seconds += 0.1 * (self._clock() - pending.since - self._mean_seconds)
            return [Deliver(pending.number, results, pending.friend)]
        return self._reply(pending, Answer(pending.sender_id, results))

    def _fail(self, pending: PendingQuery) -> list[Action]:
        self._close(pending)
        if pending.sender is None:
            return [EngineFailed(pending.number)]
        return self._reply(pending, NoAnswer(pending.sender_id))

    def _reply(self, pending: PendingQuery, message: Message) -> list[Action]:
        is_online = pending.sender in self._peer.friends
        return [Send(str(pending.sender), message)] if is_online else []

    def _handle_timeout(self, pending: PendingQuery) -> list[Action]:
        stage = pending.stage
        if pending.friend_id:
            self._record_failure(pending)
        if stage in (QueryState.OFFERED, QueryState.NOBODY):
            self._close(pending)
            return []
        if stage is QueryState.SUBMITTING:
            return self._fail(pending)
        return self._continue_after_failure(pending, stage)

    def _close(self, pending: PendingQuery, served: bool = False) -> None:
        """Close a pending query, and count how it ended."""
        self._book.close(pending)
        if pending.sender is None:
            return
        tally = self.stats(pending.sender)
        if pending.stage is QueryState.OFFERED and not pending.text:
            tally.unclaimed += 1
        else:
            is_delivered = served and pending.sender in self._peer.friends
            tally.served += is_delivered
            tally.failed += not is_delivered
