"""The exchange of queries between one peer and her friends, without network, disk or clock.

Whoever runs it says what happened (a friend came or went, a message arrived, time passed), and
gets the actions to take. All choices are those of `core`. A query is in one place at a time: it
goes to the next friend only after the last one refused, was silent, failed or went away. So it is
submitted once, unless a friend who had its text was lost: that is counted as `lost`.

A query that comes back to a peer is served as any other. To recognise it would tell the friend
who sent it that the peer knows it; its count of hops ends every loop.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from secrets import SystemRandom, token_hex

from .actions import Action, Broken, Deliver, Nobody, Send, Submit
from .book import Book
from .core import Peer, Settings
from .errands import Errand, Limits, Stage, Tally, Waits
from .messages import Accepted, Answer, Failed, Message, Query, Refused, Request, Result
from .start import start

__all__ = ["Exchange"]

_SYSTEM = SystemRandom()  # the operating system's
_WAITS, _LIMITS = Waits(), Limits()
_TRIES = 2  # failures after which the owner is asked


class Exchange:
    """One peer's part in the protocol. Every method gives the actions to take, in order."""

    def __init__(
        self,
        settings: Settings,
        clock: Callable[[], float],
        draw: Callable[[], float] = _SYSTEM.random,
        fresh: Callable[[], str] = lambda: token_hex(16),
        waits: Waits = _WAITS,
        limits: Limits = _LIMITS,
    ) -> None:
        self._settings, self._clock, self._draw, self._fresh = settings, clock, draw, fresh
        self._waits, self._limits = waits, limits
        self._peer: Peer[str] = Peer([], settings, draw)
        self._tallies: dict[str, Tally] = {}
        self._known: dict[str, tuple[int, int]] = {}  # counts of friends who are away
        self._used: dict[str, OrderedDict[str, None]] = {}  # ids that friends have used
        self._share: dict[str, tuple[float, float]] = {}  # what is left of a friend's minute
        self._book = Book()

    # --- what is known -----------------------------------------------------------------------

    @property
    def present(self) -> tuple[str, ...]:
        """The friends who can be asked now."""
        return self._peer.friends

    @property
    def open(self) -> int:
        """How many queries are under way."""
        return len(self._book.errands)

    def tally(self, friend: str) -> Tally:
        """Give what passed between this peer and a friend."""
        return self._tallies.setdefault(friend, Tally())

    def counts(self, friend: str) -> tuple[int, int]:
        """Tell how often a friend was asked, and how often she served."""
        if friend in self._peer.friends:
            return self._peer.counts(friend)
        return self._known.get(friend, (0, 0))

    def trust(self, friend: str) -> float:
        """Give the trust in a friend, present or not."""
        asked, took = self.counts(friend)
        return (took + 1) / (asked + 1)

    def remember(self, friend: str, counts: tuple[int, int], tally: Tally) -> None:
        """Take up what is known of a friend from an earlier run."""
        self._known[friend], self._tallies[friend] = counts, tally

    def alarm(self) -> float | None:
        """Give the time at which `wake` must be called, if any."""
        return self._book.alarm()

    # --- what happens ------------------------------------------------------------------------

    def came(self, friend: str) -> list[Action]:
        """A friend can be reached now."""
        self._peer.befriend(friend, *self._known.get(friend, (0, 0)))
        return []

    def went(self, friend: str) -> list[Action]:
        """A friend cannot be reached any more: what she was to do is asked of others."""
        if friend not in self._peer.friends:
            return []
        waiting = self._book.asked_of(friend)
        for errand in waiting:
            self._let_down(errand)
        for errand in self._book.sent_by(friend):
            if errand.stage is Stage.OFFERED:
                self._close(errand)
        self._known[friend] = self._peer.counts(friend)
        self._peer.forget(friend)
        return [action for errand in waiting for action in self._go_on(errand)]

    def ask(self, text: str) -> tuple[int, list[Action]]:
        """The owner has a query. Its number comes back with the answer."""
        errand = self._book.begin(Stage.ASKING)
        errand.text, errand.until = text, self._clock() + self._waits.own
        if self._book.open[None] > self._limits.own:
            self._close(errand)
            return errand.number, [Broken(errand.number)]
        errand.hops = start(self._settings, self._draw)
        errand.route, errand.untried = self._peer.route(None, errand.hops), len(self.present)
        return errand.number, self._go_on(errand)

    def insist(self, number: int) -> list[Action]:
        """The owner wants to submit a query herself, which nobody took."""
        errand = self._book.errands.get(number)
        if errand is None or errand.stage is not Stage.NOBODY:
            return []
        errand.until = self._clock() + self._waits.own
        return self._submit(errand)

    def received(self, friend: str, message: Message) -> list[Action]:
        """A message came from a friend; the link has proved that it is hers."""
        if friend not in self._peer.friends:
            return []
        if isinstance(message, Request):
            return self._requested(friend, message)
        given = isinstance(message, Query)
        errand = (self._book.incoming if given else self._book.outgoing).get((friend, message.id))
        wanted = {
            Query: Stage.OFFERED, Accepted: Stage.ASKING, Refused: Stage.ASKING,
            Answer: Stage.HANDED, Failed: Stage.HANDED,
        }[type(message)]  # fmt: skip
        if errand is None or errand.stage is not wanted:
            self.tally(friend).stray += 1  # forged, repeated, or too late
            return []
        return self._heard(errand, message)

    def is_own(self, number: int) -> bool:
        """Whether an open query is the owner's."""
        errand = self._book.errands.get(number)
        return errand is not None and errand.own

    def is_submitting(self, number: int) -> bool:
        """Whether a query is still waited for that was to be submitted."""
        errand = self._book.errands.get(number)
        return errand is not None and errand.stage is Stage.SUBMITTING

    def submitted(self, number: int, results: tuple[Result, ...] | None) -> list[Action]:
        """The search engine answered, or did not (None)."""
        errand = self._book.errands.get(number)
        if errand is None or errand.stage is not Stage.SUBMITTING:
            return []
        return self._fail(errand) if results is None else self._finish(errand, results)

    def wake(self) -> list[Action]:
        """Time has passed."""
        actions: list[Action] = []
        while (errand := self._book.next_due(self._clock())) is not None:
            actions += self._expired(errand)
        return actions

    # --- a friend's query --------------------------------------------------------------------

    def _requested(self, friend: str, message: Request) -> list[Action]:
        tally = self.tally(friend)
        tally.requests += 1
        used = self._used.setdefault(friend, OrderedDict())
        if message.id in used or (friend, message.id) in self._book.incoming:
            tally.ignored += 1
            return []
        used[message.id] = None
        if len(used) > self._limits.ids:
            used.popitem(last=False)
        full = self._book.open[friend] >= self._limits.open or not self._has_time_for(friend)
        if full or not self._peer.accepts(friend):
            tally.refused += 1
            return [Send(friend, Refused(message.id))]
        tally.taken += 1
        errand = self._book.begin(Stage.OFFERED, friend, message.id)
        self._book.wait(errand, Stage.OFFERED, self._clock() + self._waits.reply)
        return [Send(friend, Accepted(message.id))]

    def _has_time_for(self, friend: str) -> bool:
        """Whether a friend has asked for no more than her share of this minute."""
        now, most = self._clock(), self._limits.minute
        level, at = self._share.get(friend, (float(most), now))
        level = min(float(most), level + (now - at) * most / 60)
        self._share[friend] = (max(0.0, level - 1), now)
        return level >= 1

    def _heard(self, errand: Errand, message: Message) -> list[Action]:
        match message:
            case Query():
                return self._take(errand, message)
            case Accepted():
                self._book.wait(errand, Stage.HANDED, self._clock() + self._patience(errand.hops))
                query = Query(errand.friend_id, errand.hops + 1, errand.text)
                return [Send(str(errand.friend), query)]
            case Answer():
                return self._answered(errand, message.results)
            case Failed():
                return self._failed(errand)
            case _:
                self._let_down(errand)
                return self._go_on(errand)

    def _failed(self, errand: Errand) -> list[Action]:
        """A friend had the query, and there is no answer: an engine that is down stays down.

        So a relay hands the failure back. Were each to try its other friends, one query would be
        submitted dozens of times. The owner's peer tries a few, and then asks her.
        """
        self._let_down(errand)
        errand.failures += 1
        if not errand.own:
            return self._fail(errand)
        if errand.failures > _TRIES:
            errand.route, errand.untried = None, 0
        return self._go_on(errand)

    def _take(self, errand: Errand, message: Query) -> list[Action]:
        if message.hops > self._settings.hops:
            return self._fail(errand)
        errand.text, errand.hops = message.text, message.hops
        errand.until = self._clock() + self._patience(message.hops - 1)
        errand.route = self._peer.route(errand.sender, errand.hops)
        return self._go_on(errand)

    def _patience(self, hops: int) -> float:
        """Give how long to wait for an answer: longer than any peer further on does."""
        return self._waits.engine + self._waits.hop * (self._settings.hops - hops)

    # --- the way of a query ------------------------------------------------------------------

    def _go_on(self, errand: Errand) -> list[Action]:
        """Ask the next friend, or submit it; the owner is asked when no friend is left."""
        while errand.route is not None and (friend := errand.route.step()) is not None:
            errand.untried -= 1
            if friend in self._peer.friends:
                return self._request(errand, friend)
        if errand.own and errand.untried <= 0:
            self._book.wait(errand, Stage.NOBODY, self._clock() + self._waits.owner)
            return [Nobody(errand.number)]
        return self._submit(errand)

    def _request(self, errand: Errand, friend: str) -> list[Action]:
        self._book.ask(errand, friend, self._fresh())
        self.tally(friend).asked += 1
        self._book.wait(errand, Stage.ASKING, self._clock() + self._waits.reply)
        return [Send(friend, Request(errand.friend_id))]

    def _submit(self, errand: Errand) -> list[Action]:
        errand.friend = None
        self._book.wait(errand, Stage.SUBMITTING, errand.until)
        return [Submit(errand.number, errand.text)]

    def _answered(self, errand: Errand, results: tuple[Result, ...]) -> list[Action]:
        friend = str(errand.friend)
        self._peer.heard(friend, accepted=True)
        self.tally(friend).answered += 1
        self.tally(friend).carried += errand.own
        self._book.release(errand)
        return self._finish(errand, results)

    def _let_down(self, errand: Errand) -> None:
        """Count that the friend who was asked did not serve: she refused, failed or is silent."""
        friend = str(errand.friend)
        self._peer.heard(friend, accepted=False)
        if errand.stage is Stage.HANDED:
            self.tally(friend).lost += 1
        else:
            self.tally(friend).turned_down += 1
        self._book.release(errand)

    # --- the end of a query ------------------------------------------------------------------

    def _finish(self, errand: Errand, results: tuple[Result, ...]) -> list[Action]:
        self._close(errand, served=True)
        if errand.sender is None:
            return [Deliver(errand.number, results, errand.friend)]
        return self._reply(errand, Answer(errand.sender_id, results))

    def _fail(self, errand: Errand) -> list[Action]:
        self._close(errand)
        if errand.sender is None:
            return [Broken(errand.number)]
        return self._reply(errand, Failed(errand.sender_id))

    def _reply(self, errand: Errand, message: Message) -> list[Action]:
        here = errand.sender in self._peer.friends
        return [Send(str(errand.sender), message)] if here else []

    def _expired(self, errand: Errand) -> list[Action]:
        if errand.friend_id:
            self._let_down(errand)
        if errand.stage in (Stage.OFFERED, Stage.NOBODY):
            self._close(errand)
            return []
        if errand.stage is Stage.SUBMITTING or (self._clock() >= errand.until and not errand.own):
            return self._fail(errand)
        if self._clock() >= errand.until:
            errand.route, errand.untried = None, 0
        return self._go_on(errand)

    def _close(self, errand: Errand, served: bool = False) -> None:
        """End an errand, and count how it ended."""
        self._book.end(errand)
        if errand.sender is None:
            return
        tally = self.tally(errand.sender)
        if errand.stage is Stage.OFFERED and not errand.text:
            tally.unclaimed += 1
        else:
            got = served and errand.sender in self._peer.friends
            tally.served += got
            tally.failed += not got
