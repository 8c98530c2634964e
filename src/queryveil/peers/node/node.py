"""The node of one user: the exchange with its links, its search engine and its files."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import NamedTuple

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
    NoRelay,
    Send,
    Submit,
    Timeouts,
)
from .engines import PLACES, SearchEngine
from .exposure import ExposureCounter
from .identity import Friend, load_identity, read_friends
from .links import LinkManager
from .records import FriendStatus, NodeStatus
from .state import load_secret, load_state, save_state, snapshot
from .storage import NodeDirectory

# The limit is higher than in the simulation, because the hop count of own queries starts anywhere
# in the range (see `initial_hop_distribution`).
NODE_SETTINGS = ProtocolSettings(submit_probability=0.5, max_hops=10)
_WAITS = Timeouts()
_LIMITS = Limits()
_PERIOD = 1.0  # seconds between checks of the list of friends, and between writes


class SearchOutcome(NamedTuple):
    """The outcome of a search.

    `kind` is "answered" (`by` is the friend's name, None for the own account), "nobody" (no friend
    answered), "broken" (the engine failed), "busy" (not started, retry after `wait` seconds) or
    "gone" (no longer pending).
    """

    kind: str
    number: int
    results: tuple[Result, ...] = ()
    by: str | None = None
    wait: int = 0


class Node:
    """One running peer, on one event loop, with one folder."""

    def __init__(
        self,
        home: NodeDirectory,
        engine: SearchEngine,
        *,
        settings: ProtocolSettings = NODE_SETTINGS,
        waits: Timeouts = _WAITS,
        store_queries: bool = False,
        reachable: bool = True,
        rate: float = 200.0,
        limits: Limits = _LIMITS,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self.home, self._engine, self._wall = home, engine, wall
        self.identity = load_identity(home)
        self.account = ExposureCounter(load_secret(home), store_queries=store_queries)
        self.exchange = Exchange(
            settings, lambda: asyncio.get_running_loop().time(), waits=waits, limits=limits
        )
        load_state(home, self.exchange, self.account, wall())
        self.links = LinkManager(
            self.identity, on_connect=self._on_connect, on_disconnect=self._on_disconnect,
            on_message=self._on_message, reachable=reachable, rate=rate,
        )  # fmt: skip
        self.friends: dict[str, Friend] = {}
        self._waiting: dict[int, asyncio.Future[SearchOutcome]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._friends_slots = asyncio.Semaphore(PLACES)
        self._own_slots = asyncio.Semaphore(PLACES)
        self._saving = asyncio.Lock()
        self._friends_mtime, self._dirty = -1, False

    # --- start and stop ----------------------------------------------------------------------

    async def start(self, endpoint: tuple[str, int] | None) -> int:
        """Listen for friends and connect to them; return the port.

        Args:
            endpoint: The host and the port to listen on, or None not to listen (the port is 0).
        """
        self._look_for_friends()
        port = await self.links.listen(*endpoint) if endpoint else 0
        self._spawn(self._run_periodically())
        return port

    async def stop(self) -> None:
        """Close all links, and save the state."""
        await self.kill()
        await self._save()

    async def kill(self) -> None:
        """Stop at once without saving, as in a crash."""
        for task in list(self._tasks):
            task.cancel()
        await self.links.close()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._timer:
            self._timer.cancel()
        for future in self._waiting.values():
            future.cancel()
        await self._engine.close()

    async def _run_periodically(self) -> None:
        while True:
            await asyncio.sleep(_PERIOD)
            # A full disk, or a list that is being edited, must not stop the node.
            with suppress(QueryveilError, OSError):
                self._look_for_friends()
            with suppress(QueryveilError, OSError):
                if self._dirty:
                    await self._save()

    def _look_for_friends(self) -> None:
        mtime = self.home.mtime("friends.json")
        if mtime != self._friends_mtime:
            self.friends = {friend.fingerprint: friend for friend in read_friends(self.home)}
            self._friends_mtime = mtime
            self.links.set_friends(list(self.friends.values()))

    async def _save(self) -> None:
        # The lock: a thread continues to write after its task was canceled.
        async with self._saving:
            self._dirty = False
            state = snapshot(self.exchange, self.account, list(self.friends), self._wall())
            await asyncio.shield(asyncio.to_thread(save_state, self.home, state))

    # --- requests of the owner ---------------------------------------------------------------

    async def search(self, text: str, person: bool = True) -> SearchOutcome:
        """Search for a text through friends or, as the protocol draws, under the own account.

        Args:
            person: Whether a browser sent it. Programs cannot use the slots reserved for browsers.
        """
        text = sanitize_text(text, MAX_TEXT)
        if not text:
            raise UsageError("the query is empty")
        number, actions = self.exchange.start_query(text, person)
        if not any(isinstance(action, Busy) for action in actions):
            self.account.asked(text)
        return await self._await_outcome(number, actions)

    async def submit_directly(self, number: int) -> SearchOutcome:
        """Submit a query under the own account that no friend answered."""
        actions = self.exchange.submit_directly(number)
        if not actions:
            return SearchOutcome("gone", number)
        return await self._await_outcome(number, actions)

    async def _await_outcome(self, number: int, actions: list[Action]) -> SearchOutcome:
        future: asyncio.Future[SearchOutcome] = asyncio.get_running_loop().create_future()
        self._waiting[number] = future
        try:
            self._execute(actions)
            return await future
        finally:
            self._waiting.pop(number, None)

    def name_of(self, friend: str | None) -> str | None:
        """Return the name of a friend by fingerprint, or None if there is no such friend."""
        entry = self.friends.get(friend or "")
        return entry.name if entry else None

    def status(self) -> NodeStatus:
        """Return the status that the owner's page shows."""
        friends = tuple(
            FriendStatus(
                name=friend.name,
                fingerprint=fingerprint,
                present=fingerprint in self.exchange.online_friends,
                trust=self.exchange.trust(fingerprint),
                counts=self.exchange.stats(fingerprint).snapshot(),
            )
            for fingerprint, friend in self.friends.items()
        )
        return NodeStatus(
            fingerprint=self.identity.fingerprint,
            exposure=self.account.exposure(),
            account=self.account.counts(),
            texts=tuple(self.account.texts),
            friends=friends,
            turned_away=self.links.turned_away,
            shed=self.exchange.shed,
        )

    # --- events ------------------------------------------------------------------------------

    def _on_connect(self, friend: str) -> None:
        self._execute(self.exchange.friend_connected(friend))

    def _on_disconnect(self, friend: str) -> None:
        self._execute(self.exchange.friend_disconnected(friend))

    def _on_message(self, friend: str, message: Message) -> None:
        self._execute(self.exchange.message_received(friend, message))

    def _on_timer(self) -> None:
        self._timer = None
        self._execute(self.exchange.handle_timeouts())

    def _execute(self, actions: list[Action]) -> None:
        self._dirty = True
        for action in actions:
            match action:
                case Send(friend, message):
                    self.links.send(friend, message)
                case Submit(number, text):
                    self._spawn(self._submit(number, text))
                case Deliver(number, results, friend):
                    self._end(SearchOutcome("answered", number, results, self.name_of(friend)))
                case NoRelay(number):
                    self._end(SearchOutcome("nobody", number))
                case EngineFailed(number):
                    self._end(SearchOutcome("broken", number))
                case Busy(number, seconds):
                    self._end(SearchOutcome("busy", number, wait=seconds))
        self._set_timer()

    def _end(self, outcome: SearchOutcome) -> None:
        future = self._waiting.get(outcome.number)
        if future is not None and not future.done():
            future.set_result(outcome)

    async def _submit(self, number: int, text: str) -> None:
        results: tuple[Result, ...] | None = None
        # The owner has separate slots, so that friends' queries cannot delay the owner's.
        async with self._own_slots if self.exchange.is_own(number) else self._friends_slots:
            if not self.exchange.is_submitting(number):
                return  # it has timed out: its sender was notified, and may have asked others
            self.account.submitted(text)
            with suppress(QueryveilError):
                # A friend would treat an answer above the limits as an attack.
                results = limit_results(await self._engine.search(text))
        self._execute(self.exchange.engine_replied(number, results))

    def _spawn(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _set_timer(self) -> None:
        deadline, loop = self.exchange.next_deadline(), asyncio.get_running_loop()
        if self._timer is not None and (deadline is None or self._timer.when() != deadline):
            self._timer.cancel()
            self._timer = None
        if deadline is not None and self._timer is None:
            self._timer = loop.call_at(deadline, self._on_timer)
