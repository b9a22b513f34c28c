"""The composition root: `MemoryStore` opens what the environment names and wires the use cases."""

import logging
import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from iai_mcp import paths, settings
from iai_mcp.adapters.agent_news import AgentNews
from iai_mcp.adapters.allocator import give_back
from iai_mcp.adapters.consent import LocalConsent
from iai_mcp.adapters.kept_copies import KeptCopies
from iai_mcp.adapters.keys import custody
from iai_mcp.adapters.lazy_embedder import LazyEmbedder
from iai_mcp.adapters.redaction_file import FileRedactor
from iai_mcp.adapters.spooled_turns import SpooledTurns
from iai_mcp.adapters.sqlite.checkpoints import Checkpoints
from iai_mcp.adapters.sqlite.finder import SqliteFinder
from iai_mcp.adapters.sqlite.journal import SqliteJournal
from iai_mcp.adapters.sqlite.memories import SqliteMemories
from iai_mcp.adapters.sqlite.repeats import SqliteRepeats
from iai_mcp.adapters.sqlite.strengths import SqliteStrengths
from iai_mcp.adapters.sqlite.topics import SqliteTopics
from iai_mcp.adapters.sqlite.vectors import SqliteVectors
from iai_mcp.adapters.surroundings import LocalProjects, StoredProjects, SystemClock
from iai_mcp.adapters.worker import Worker
from iai_mcp.domain.briefing_text import estimated_tokens
from iai_mcp.domain.errors import IaiError
from iai_mcp.memory.briefing import SessionStart
from iai_mcp.memory.capture import Capture
from iai_mcp.memory.changing import Contradict, Forget, Pin, Reinforce
from iai_mcp.memory.embedding import EmbedBacklog, EmbedWords
from iai_mcp.memory.gate import Gate
from iai_mcp.memory.injections import Injections
from iai_mcp.memory.knobs import KnobBoard
from iai_mcp.memory.prompt_injection import PromptInjection
from iai_mcp.memory.reaching import Reach
from iai_mcp.memory.recall import MeaningLeg, Recall
from iai_mcp.memory.scoping import Access, Privacy
from iai_mcp.memory.sleep.courtesy import Courtesy
from iai_mcp.memory.sleep.nights import Nights
from iai_mcp.memory.timeline import Show, Timeline
from iai_mcp.memory.transfer import Transfer
from iai_mcp.memory.uses import Uses
from iai_mcp.ports.embedder import Embedder
from iai_mcp.ports.memories import Scope, Stored
from iai_mcp.protocol.turn_events import spooled_turn

if TYPE_CHECKING:
    from iai_mcp.memory.sleep.sleep import Sleep

_log = logging.getLogger(__name__)

_REINDEXED_AT_ONCE = 200
_EMBEDDED_MEANWHILE = (
    2  # memories at a time while calls never cease: each takes a core for a moment
)
# After a change of the model, or when one was installed late. A few are embedded in no time.
_BEHIND = "meaning: most memories have no vector of this model yet, and are found by their words"
_WORTH_A_WORD = 100
# Each copy is rewritten as a whole: what is forgotten one after the other is taken out at once.
_GATHERED_SECONDS = 1.0
_REACH_AGAIN_SECONDS = 300.0


class MemoryStore:
    """The memory of one user-data directory, with everything that works on it."""

    def __init__(
        self,
        path: Path | str | None = None,
        *,
        load_embedder: Callable[[], Embedder] | None = None,
    ) -> None:
        self.directory = Path(path) if path is not None else Path(paths.user_data())
        self.settings = settings.load()
        self.clock = SystemClock()
        self.database = custody.open_database(self.directory)
        self.memories = SqliteMemories(self.database)
        self.journal = SqliteJournal(self.database)
        self.checkpoints = Checkpoints(self.database)
        self.agent_news = AgentNews(self.directory, self.journal)
        self.vectors: SqliteVectors | None = None
        self.behind = False  # whether many memories have no vector of the model yet
        self._vectors_to_come: SqliteVectors | None = None
        self.embedder = LazyEmbedder(load_embedder or _load_embedder, self._model_ready)
        self.backlog = _Backlog(self)
        self.redactor = FileRedactor()
        self.projects = StoredProjects(LocalProjects(), self.redactor)
        self.courtesy = Courtesy()
        self.ending = threading.Event()  # set when calls should come to an end
        # Whoever owns the process puts its own here: it hears what failed in a thread of the store.
        self.on_failure: Callable[[str, Exception], None] = _log_failure
        self._errands = ThreadPoolExecutor(max_workers=1, thread_name_prefix="errand")
        self._wire()
        self._tell_of_loss()

    def _wire(self) -> None:
        self.knobs = KnobBoard(self.journal)
        self.repeats = SqliteRepeats(self.database)
        self.topics = SqliteTopics(self.database)
        self.strengths = SqliteStrengths(self.database)
        self.uses = Uses(self.strengths, self.clock, self.later)
        self.access = access = Access(self.memories, self.projects)
        self.recall = Recall(
            memories=self.memories,
            access=access,
            finder=SqliteFinder(self.database, self.memories.sheet, lambda: self.vectors),
            meaning=self.meaning,
            clock=self.clock,
            knobs=self.knobs.current,
            repeats=self.repeats,
            topics=self.topics,
            strengths=self.strengths,
            turn=Gate(_recalls_at_once()),
        )
        self.capture = Capture(
            memories=self.memories,
            clock=self.clock,
            projects=LocalProjects(),
            access=access,
            redact=self.redactor,
            consent=LocalConsent(),
            stored=self._stored,
        )
        self.timeline = Timeline(self.memories, access)
        self.show = Show(self.memories, access)
        self.privacy = Privacy(self.memories, self.projects)
        self.contradict = Contradict(self.memories, access, self.clock, self.redactor, self._stored)
        self.reinforce = Reinforce(self.memories, access, self.clock, self.uses.useful)
        self.pin = Pin(self.memories, access)
        self.forget = Forget(self.memories, access, self.clock, self.forgotten)
        self.transfer = Transfer(self.memories, self.projects, self.redactor)
        self.copies = KeptCopies(self.database, self.directory)
        self.reach = Reach(
            memories=self.memories,
            copies=self.copies,
            leftovers=SpooledTurns(),
            journal=self.journal,
            clock=self.clock,
            stopping=self.ending.is_set,
            read_turn=spooled_turn,
        )
        self.reaching = _Reaching(self)

        self.injections = Injections(self.memories, self.journal, self.clock, self.later)
        self.session_start = SessionStart(
            self.memories,
            access,
            self._token_counter,
            self.injections,
            lambda: self.knobs.current().injection_depth,
        )
        self.prompt_injection = PromptInjection(
            self.projects,
            self.recall,
            lambda: self.knobs.current().prompt_injection,
            self._token_counter,
            self.injections,
        )
        self.nights = Nights(
            lambda: self.sleep,
            self.journal,
            self.clock,
            # Whoever runs a lifecycle puts its own request here; without one an errand drives.
            ask=lambda: self.later(self.nights.run),
            step_aside=self.courtesy.step_aside,
            failed=self.failed,
        )

    def _tell_of_loss(self) -> None:
        lost = self.database.lost
        if lost is not None:
            _log.warning("writes_lost", extra={"count": lost.frames, "file": lost.copy.name})
            data = {"pages": lost.frames, "copy": lost.copy.name}
            self.journal.record_event("writes_lost", data, self.clock.now())

    def start_background(self) -> None:
        """What goes on beside the calls: the model loads, what lacks a vector gets one, and what was
        written comes into the file itself.
        """
        self.embedder.start()
        self.checkpoints.start()
        self.backlog.start()
        self.backlog.wake()
        self.reaching.start()
        self.reaching.wake()
        self.later(self._read_sheet)

    @cached_property
    def sleep(self) -> "Sleep":
        """What sleep does, in pages. Its rules are read when it is first wanted, not at each start."""
        from iai_mcp import sleep

        return sleep.compose(self)

    def learns(self) -> bool:
        """Whether people want things derived from what they said."""
        return self.knobs.current().learning == "on"

    def facts(self) -> dict[str, object]:
        """What `status` tells about the store."""
        embedder = self.embedder.get()
        return {
            "records": self.memories.count(),
            "vectors_pending": self.memories.pending_count(),
            "forgetting": self.memories.unreached_count(),
            "model": embedder if isinstance(embedder, str) else embedder.model_id,
            "model_ready": not isinstance(embedder, str),
            "store": str(self.directory),
            "last_sleep": self.nights.last,
        }

    def end_calls(self) -> None:
        """Those that take long come to an end: what they leave undone is done later."""
        self.ending.set()
        self.nights.end()

    def close(self) -> None:
        """Stop background work and close the file. Calling it twice is harmless."""
        self.end_calls()
        self._errands.shutdown(wait=True)
        if not self.database.closed:
            self.uses.flush()
        self.reaching.stop()
        self.backlog.stop()
        self.checkpoints.stop()
        self.database.close()

    def give_back(self) -> None:
        """Return to the system what something large left behind, soon."""
        self.later(self._give_back)

    def _give_back(self) -> None:
        self.database.shrink()
        give_back()

    def reach_copies(self) -> dict[str, object]:
        """Take what was forgotten out of the copies: soon where a daemon serves, else at once."""
        if self.reaching.started:
            self.reaching.wake()
            return {"to_follow": self.copies.count()}
        try:
            return asdict(self.reach())
        except IaiError as refused:
            return {"to_follow": self.copies.count(), "problem": refused.message}

    def later(self, errand: Callable[[], object]) -> None:
        """Run something soon that nobody waits for; what is in hand is finished at `close`."""

        def run() -> None:
            try:
                errand()
            except Exception as failed:  # noqa: BLE001 - supervision: nobody waits for the outcome
                self.failed("errands", failed)

        self._errands.submit(run)

    def failed(self, what: str, failure: Exception) -> None:
        """Something failed that nobody waits for."""
        self.on_failure(what, failure)

    def _token_counter(self) -> Callable[[str], int]:
        embedder = self.embedder.get()
        return estimated_tokens if isinstance(embedder, str) else embedder.count_tokens

    def _model_ready(self, embedder: Embedder) -> None:
        vectors = SqliteVectors(self.database, embedder.model_id, embedder.dimensions)
        self._vectors_to_come = vectors
        vectors.load()
        missing = self.memories.pending_count()
        self.behind = missing > max(_WORTH_A_WORD, self.memories.count() / 2)
        self.vectors = vectors
        self.backlog.wake()

    def meaning(self) -> MeaningLeg | str:
        embedder, vectors = self.embedder.get(), self.vectors
        if isinstance(embedder, str):
            return embedder
        if vectors is None:
            return "meaning: the vectors are still loading; answered by words"
        return MeaningLeg(embedder, vectors, _BEHIND if self.behind else "")

    def _read_sheet(self) -> None:
        """What the first recall would otherwise wait for."""
        self.memories.sheet()

    def _stored(self, outcomes: Sequence[Stored]) -> None:
        if any(one.status == "inserted" for one in outcomes):
            self.backlog.wake()

    def forgotten(self, keys: Sequence[int]) -> None:
        # Also from what is still being read: it may have come past them already.
        if self._vectors_to_come is not None:
            self._vectors_to_come.drop(keys)


class _Backlog(Worker):
    """Gives vectors to memories, a page at a time, whenever there are any."""

    def __init__(self, store: MemoryStore) -> None:
        super().__init__("embed", store.failed)
        self._store = store
        self._turnstile = threading.Lock()

    def work(self) -> None:
        limit = 0
        while not self.stopping and self.page(limit):
            limit = 0 if self._store.courtesy.wait_for_calm() else _EMBEDDED_MEANWHILE

    def page(self, limit: int = 0) -> int:
        """Embed a few; how many there were. One caller at a time: two would embed the same ones."""
        with self._turnstile:
            return self._page(limit or self._store.settings.embed_page)

    def _page(self, limit: int) -> int:
        renewed = self._store.memories.reindex(_REINDEXED_AT_ONCE)
        embedder, vectors = self._store.embedder.get(), self._store.vectors
        if renewed or isinstance(embedder, str) or vectors is None:
            return renewed
        done = EmbedBacklog(self._store.memories, embedder, vectors)(limit)
        if done:
            return done
        self._store.behind = False
        # Single words are for sessions in which somebody worked: others are found without.
        worked = self._store.recall.finder.people(Scope()).worked
        return int(worked and EmbedWords(embedder, vectors.words)(limit))


class _Reaching(Worker):
    """Takes what was forgotten out of the copies of the store, whenever something was."""

    def __init__(self, store: MemoryStore) -> None:
        super().__init__("copies", store.failed)
        self._store = store

    def work(self) -> None:
        while not self.stopping and self._store.memories.unreached_count():
            self.rest(_GATHERED_SECONDS)
            try:
                self._store.reach()
            except IaiError as refused:
                _log.warning("copies_not_reached", extra={"reason": refused.code})
                self.rest(_REACH_AGAIN_SECONDS)


def _log_failure(name: str, failed: Exception) -> None:
    _log.error("task_failed", exc_info=failed, extra={"task": name})


def _recalls_at_once() -> int:
    """How many weigh what they found at the same time: more only take the interpreter from each
    other. Eight at once answer fewer in a second than one after the other do, and each takes longer.
    """
    return 1 if (os.cpu_count() or 1) <= 2 else 2


def _load_embedder() -> Embedder:
    from iai_mcp.adapters.embedding.runtime import load_configured

    return load_configured()
