"""The errands that a peer has open, found by number, by id and by time."""

from __future__ import annotations

import heapq
from collections import Counter

from ..errands import PendingQuery, QueryState


class PendingTable:
    """Keeps errands from their beginning to their end, and nothing after that."""

    def __init__(self) -> None:
        self.errands: dict[int, PendingQuery] = {}
        self.incoming: dict[tuple[str, str], PendingQuery] = {}  # by who sent it, and her id
        self.outgoing: dict[
            tuple[str, str], PendingQuery
        ] = {}  # by who was asked, and the id for her
        self.open_per_sender: Counter[str | None] = Counter()  # by who sent it; None is the owner
        self.asking: Counter[str] = Counter()  # by who was asked and has not ended it
        self._alarms: list[tuple[float, int]] = []
        self._last = 0

    def open(
        self, stage: QueryState, sender: str | None = None, sender_id: str = ""
    ) -> PendingQuery:
        """Open an errand."""
        self._last += 1
        errand = PendingQuery(self._last, stage, sender, sender_id)
        self.errands[errand.number] = errand
        self.open_per_sender[sender] += 1
        if sender is not None:
            self.incoming[sender, sender_id] = errand
        return errand

    def close(self, errand: PendingQuery) -> None:
        """Close an errand."""
        del self.errands[errand.number]
        self.open_per_sender[errand.sender] -= 1
        if errand.sender is not None:
            del self.incoming[errand.sender, errand.sender_id]

    def ask(self, errand: PendingQuery, friend: str, name: str) -> None:
        """Note who is asked, and by which id."""
        errand.friend, errand.friend_id = friend, name
        self.outgoing[friend, name] = errand
        self.asking[friend] += 1

    def release(self, errand: PendingQuery) -> None:
        """Note that nothing is expected of her any more."""
        friend = str(errand.friend)
        if self.outgoing.pop((friend, errand.friend_id), None) is not None:
            self.asking[friend] -= 1
        errand.friend_id = ""

    def waiting_on(self, friend: str) -> list[PendingQuery]:
        """Give the errands that wait for a friend."""
        return [one for one in self.errands.values() if one.friend == friend and one.friend_id]

    def undecided(self) -> list[PendingQuery]:
        """Return the own errands that wait for the owner's word, the oldest first."""
        waiting = [one for one in self.errands.values() if one.stage is QueryState.NOBODY]
        return sorted(waiting, key=lambda one: one.due)

    def under_way(self) -> int:
        """Return how many own errands are open and wait for somebody else than the owner."""
        return self.open_per_sender[None] - len(self.undecided())

    def sent_by(self, friend: str) -> list[PendingQuery]:
        """Give a friend's errands."""
        return [one for one in self.errands.values() if one.sender == friend]

    def wait(self, errand: PendingQuery, stage: QueryState, due: float) -> None:
        """Begin a stage that is over at some time, or when the errand is."""
        errand.stage = stage
        errand.due = (
            due if stage in (QueryState.OFFERED, QueryState.NOBODY) else min(due, errand.until)
        )
        heapq.heappush(self._alarms, (errand.due, errand.number))

    def next_deadline(self) -> float | None:
        """Give the time at which the next stage is over, if any."""
        while self._alarms and not self._counts(*self._alarms[0]):
            heapq.heappop(self._alarms)
        return self._alarms[0][0] if self._alarms else None

    def pop_expired(self, now: float) -> PendingQuery | None:
        """Give an errand whose stage is over, each once, until there is none."""
        at = self.next_deadline()
        if at is None or at > now:
            return None
        return self.errands[heapq.heappop(self._alarms)[1]]

    def _counts(self, at: float, number: int) -> bool:
        """Whether an alarm is of an errand's present stage."""
        errand = self.errands.get(number)
        return errand is not None and errand.due == at
