"""One person's node: the exchange, its links, its search engine and its files, put together."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple

from ...errors import QueryveilError, UsageError
from ..protocol.exchange import Exchange
from ..protocol.messages import MAX_TEXT, Message, Result, limit_results, sanitize_text
from ..protocol.policy import ProtocolSettings
from ..protocol.state import (
    Action,
    Busy,
    Deliver,
    EngineFailed,
    Limits,
    NoRelayFound,
    Send,
    Submit,
    Timeouts,
)
from .engines import PLACES, SearchEngine
from .exposure import ExposureCounter
from .identity import Friend, load_identity, read_friends
from .links import LinkManager
from .state import load_secret, load_state, save_state, snapshot
from .storage import NodeDirectory

# A higher limit than the simulation's: own queries begin anywhere in the range (see `start`).
NODE_SETTINGS = ProtocolSettings(submit_probability=0.5, max_hops=10)
_WAITS = Timeouts()
_LIMITS = Limits()
_PACE = 1.0  # seconds between looks at the list of friends, and between writes


class SearchOutcome(NamedTuple):
    """How a search ended: "answered" (by a friend's name, or by oneself), "nobody", "broken".

    "busy" is one that was not begun: there is room in `wait` seconds. "gone" is one that is over.
    """

    kind: str
    number: int
    results: tuple[Result, ...] = ()
    by: str | None = None
    wait: int = 0


class Node:
    """Runs one peer: on one event loop, from one folder."""

    def __init__(
        self,
        home: NodeDirectory,
        engine: SearchEngine,
        *,
        settings: ProtocolSettings = NODE_SETTINGS,
        waits: Timeouts = _WAITS,
        keep_texts: bool = False,
        reachable: bool = True,
        rate: float = 200.0,
        limits: Limits = _LIMITS,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self.home, self._engine, self._wall = home, engine, wall
        self.identity = load_identity(home)
        self.account = ExposureCounter(load_secret(home), keep_texts=keep_texts)
        self.exchange = Exchange(
            settings, lambda: asyncio.get_running_loop().time(), waits=waits, limits=limits
        )
        load_state(home, self.exchange, self.account, wall())
        self.links = LinkManager(
            self.identity, came=self._came, went=self._went, heard=self._heard,
            reachable=reachable, rate=rate,
        )  # fmt: skip
        self.friends: dict[str, Friend] = {}
        self._waiting: dict[int, asyncio.Future[SearchOutcome]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._alarm: asyncio.TimerHandle | None = None
        self._gate = asyncio.Semaphore(PLACES)
        self._own_gate = asyncio.Semaphore(PLACES)
        self._saving = asyncio.Lock()
        self._read_at, self._dirty = -1, False

    # --- its life ----------------------------------------------------------------------------

    async def start(self, place: tuple[str, int] | None) -> int:
        """Listen for friends, if anywhere, call them, and give the port."""
        self._look_for_friends()
        port = await self.links.listen(*place) if place else 0
        self._spawn(self._keep_house())
        return port

    async def stop(self) -> None:
        """End all links, and write down what is to be kept."""
        await self.kill()
        await self._save()

    async def kill(self) -> None:
        """End at once, as a crash does."""
        for task in list(self._tasks):
            task.cancel()
        await self.links.close()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._alarm:
            self._alarm.cancel()
        for future in self._waiting.values():
            future.cancel()
        await self._engine.close()

    async def _keep_house(self) -> None:
        while True:
            await asyncio.sleep(_PACE)
            # A disk that is full, or a list that is being edited, is no reason to stop serving.
            with suppress(QueryveilError, OSError):
                self._look_for_friends()
            with suppress(QueryveilError, OSError):
                if self._dirty:
                    await self._save()

    def _look_for_friends(self) -> None:
        at = self.home.mtime("friends.json")
        if at != self._read_at:
            self.friends = {one.fingerprint: one for one in read_friends(self.home)}
            self._read_at = at
            self.links.set_friends(list(self.friends.values()))

    async def _save(self) -> None:
        async with self._saving:  # a thread that writes goes on when its task is cancelled
            self._dirty = False
            state = snapshot(self.exchange, self.account, list(self.friends), self._wall())
            await asyncio.shield(asyncio.to_thread(save_state, self.home, state))

    # --- its owner ---------------------------------------------------------------------------

    async def search(self, text: str, person: bool = True) -> SearchOutcome:
        """Search for a text, by friends or, by the protocol's draw, by oneself.

        Some places are kept for a person at a browser, which no program of hers can take.
        """
        text = sanitize_text(text, MAX_TEXT)
        if not text:
            raise UsageError("there is nothing to search for")
        number, actions = self.exchange.start_query(text, person)
        if not any(isinstance(action, Busy) for action in actions):
            self.account.asked(text)
        return await self._outcome(number, actions)

    async def submit_directly(self, number: int) -> SearchOutcome:
        """Submit a query oneself that nobody took."""
        actions = self.exchange.submit_directly(number)
        return await self._outcome(number, actions) if actions else SearchOutcome("gone", number)

    async def _outcome(self, number: int, actions: list[Action]) -> SearchOutcome:
        future: asyncio.Future[SearchOutcome] = asyncio.get_running_loop().create_future()
        self._waiting[number] = future
        try:
            self._do(actions)
            return await future
        finally:
            self._waiting.pop(number, None)

    def name_of(self, friend: str | None) -> str | None:
        """Give a friend's name."""
        known = self.friends.get(friend or "")
        return known.name if known else None

    def status(self) -> dict[str, Any]:
        """Give what her page shows."""
        friends = [
            {
                "name": one.name,
                "fingerprint": who,
                "present": who in self.exchange.online_friends,
                "trust": self.exchange.trust(who),
                **self.exchange.stats(who).to_dict(),
            }
            for who, one in self.friends.items()
        ]
        return {
            "fingerprint": self.identity.fingerprint,
            "exposure": self.account.exposure(),
            "account": self.account.to_dict(),
            "texts": list(self.account.texts),
            "friends": friends,
            "turned_away": self.links.turned_away,
            "shed": self.exchange.shed,
        }

    # --- what happens ------------------------------------------------------------------------

    def _came(self, friend: str) -> None:
        self._do(self.exchange.friend_connected(friend))

    def _went(self, friend: str) -> None:
        self._do(self.exchange.friend_disconnected(friend))

    def _heard(self, friend: str, message: Message) -> None:
        self._do(self.exchange.message_received(friend, message))

    def _rang(self) -> None:
        self._alarm = None
        self._do(self.exchange.handle_timeouts())

    def _do(self, actions: list[Action]) -> None:
        self._dirty = True
        for action in actions:
            match action:
                case Send(friend, message):
                    self.links.send(friend, message)
                case Submit(number, text):
                    self._spawn(self._submit(number, text))
                case Deliver(number, results, friend):
                    self._end(SearchOutcome("answered", number, results, self.name_of(friend)))
                case NoRelayFound(number):
                    self._end(SearchOutcome("nobody", number))
                case EngineFailed(number):
                    self._end(SearchOutcome("broken", number))
                case Busy(number, seconds):
                    self._end(SearchOutcome("busy", number, wait=seconds))
        self._set_alarm()

    def _end(self, outcome: SearchOutcome) -> None:
        future = self._waiting.get(outcome.number)
        if future is not None and not future.done():
            future.set_result(outcome)

    async def _submit(self, number: int, text: str) -> None:
        results: tuple[Result, ...] | None = None
        # The owner has places of her own: friends' queries cannot keep hers waiting.
        async with self._own_gate if self.exchange.is_own(number) else self._gate:
            if not self.exchange.is_submitting(number):
                return  # it is over: whoever asked has been told so, and may have asked others
            self.account.submitted(text)
            with suppress(QueryveilError):
                found = await self._engine.search(text)
                results = limit_results(found)  # else a friend would take the answer for an attack
        self._do(self.exchange.engine_replied(number, results))

    def _spawn(self, work: Any) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _set_alarm(self) -> None:
        at, loop = self.exchange.next_deadline(), asyncio.get_running_loop()
        if self._alarm is not None and (at is None or self._alarm.when() != at):
            self._alarm.cancel()
            self._alarm = None
        if at is not None and self._alarm is None:
            self._alarm = loop.call_at(at, self._rang)
