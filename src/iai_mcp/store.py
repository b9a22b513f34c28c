"""The composition root: `MemoryStore` opens what the environment names and wires the use cases."""

import logging
import os
import threading
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from iai_mcp import paths, settings
from iai_mcp.adapters.allocator import give_back, resident
from iai_mcp.adapters.backups import KeptCopies
from iai_mcp.adapters.consent import LocalConsent
from iai_mcp.adapters.host_histories import PastHistories
from iai_mcp.adapters.journal_import import AgentNews
from iai_mcp.adapters.keys import custody
from iai_mcp.adapters.redactor import FileRedactor
from iai_mcp.adapters.spare_cores import SpareCores
from iai_mcp.adapters.spool_forgetting import SpooledTurns
from iai_mcp.adapters.sqlite.held import SqliteHeld
from iai_mcp.adapters.sqlite.journal import SqliteJournal
from iai_mcp.adapters.sqlite.learned import SqliteRepeats, SqliteTopics
from iai_mcp.adapters.sqlite.memories import SqliteMemories
from iai_mcp.adapters.sqlite.packing import PackedBlocks
from iai_mcp.adapters.sqlite.upkeep import Checkpoints
from iai_mcp.adapters.sqlite.vectors import SqliteVectors
from iai_mcp.adapters.sqlite.words import SqliteWordIndex
from iai_mcp.adapters.sqlite.works import SqliteWorks
from iai_mcp.adapters.surroundings import LocalProjects, StoredProjects, SystemClock
from iai_mcp.background.embedding_backlog import Backlog
from iai_mcp.background.embedding_model import Model
from iai_mcp.background.workers import BackupForgetter, BlockPacker, ErrandPool, HistoryWorker
from iai_mcp.engine.columns import Columns
from iai_mcp.engine.vectors import Vectors
from iai_mcp.memory.after_failure import AfterFailure
from iai_mcp.memory.calendar import Calendar
from iai_mcp.memory.capture import Capture
from iai_mcp.memory.changing import Contradict, Forget, Pin, Reinforce
from iai_mcp.memory.conversations import Conversations, extent
from iai_mcp.memory.event_access import EventAccess
from iai_mcp.memory.forget_budget import ForgetBudget
from iai_mcp.memory.gate import Gate
from iai_mcp.memory.injections import Injections
from iai_mcp.memory.knobs import KnobBoard
from iai_mcp.memory.lost_checkouts import LostCheckouts
from iai_mcp.memory.mending import Mend
from iai_mcp.memory.pace import Pace, Sizes
from iai_mcp.memory.prompt_injection import PromptInjection
from iai_mcp.memory.reaching import Reach
from iai_mcp.memory.recall import Recall
from iai_mcp.memory.record_ids import RecordIds
from iai_mcp.memory.same_questions import SameQuestions
from iai_mcp.memory.scoping import Access, Privacy
from iai_mcp.memory.session_start import SessionStart
from iai_mcp.memory.show import Show
from iai_mcp.memory.sleep.courtesy import Courtesy
from iai_mcp.memory.sleep.nights import Nights
from iai_mcp.memory.timeline import Timeline
from iai_mcp.memory.transfer import Transfer
from iai_mcp.memory.undo import Reinstate, RestoreForgotten
from iai_mcp.memory.work_answers import WorkAnswers
from iai_mcp.memory.work_capture import CaptureWork
from iai_mcp.memory.work_care import ForgetWork, TransferWork
from iai_mcp.memory.work_recall import WorkRecall
from iai_mcp.ports.embedder import Embedder
from iai_mcp.ports.memories import Stored
from iai_mcp.protocol.turn_events import spooled_turn
from iai_mcp.recall.candidates import Finder

if TYPE_CHECKING:
    from iai_mcp.memory.sleep.sleep import Sleep
    from iai_mcp.sharing.sharing import Sharing

_log = logging.getLogger(__name__)


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
        self.columns = Columns(self.memories)
        self.works = SqliteWorks(self.database)
        self.journal = SqliteJournal(self.database)
        self.checkpoints = Checkpoints(self.database)
        self.agent_news = AgentNews(self.directory, self.journal)
        self.redactor = FileRedactor()
        self.projects = StoredProjects(LocalProjects(), self.redactor)
        self.courtesy = Courtesy()
        self.ending = threading.Event()  # set when calls should come to an end
        # Whoever owns the process puts its own here: it hears what failed in a thread of the store.
        self.circles_changed: Callable[[], None] = lambda: None  # another circle, or one less
        self.on_failure: Callable[[str, Exception], None] = _log_failure
        self.later = ErrandPool(self.failed)
        self.model = Model(
            load_embedder or _load_embedder,
            lambda embedder: SqliteVectors(self.database, embedder.model_id, embedder.dimensions),
            self.memories,
        )
        self.embedder, self.meaning = self.model.embedder, self.model.leg
        self.packing = BlockPacker(
            PackedBlocks(self.database), self.courtesy.wait_for_calm, self.failed
        )
        self.backlog = Backlog(
            self.memories,
            self.columns,
            self.model,
            page=self.settings.embed_page,
            spare=_spare_cores(self.settings.embed_threads),
            calm=self.courtesy.wait_for_calm,
            failed=self.failed,
            done=self.packing.wake,  # what waited for its vectors can be packed
        )
        self._wire()
        self._tell_of_loss()

    def _wire(self) -> None:
        self.knobs = KnobBoard(self.journal)
        self.pace = Pace(self.clock.now, self._sizes)
        self.repeats = SqliteRepeats(self.database)
        self.topics = SqliteTopics(self.database)
        self.access = access = Access(self.memories, self.projects)
        index = SqliteWordIndex(self.database)
        self.recall = Recall(
            memories=self.memories,
            access=access,
            finder=Finder(self.columns, index, lambda: self.model.vectors),
            meaning=self.meaning,
            clock=self.clock,
            knobs=self.knobs.current,
            repeats=self.repeats,
            tokens=index.tokens,
            given=lambda session: self.injections.given_to(session),  # noqa: PLW0108 - made later
            work=lambda *asked: self.work_recall.beside(*asked),  # noqa: PLW0108 - made later
            turn=Gate(_recalls_at_once()),
            same=SameQuestions(lambda: self.database.commits),
        )
        self.mend = Mend(self.works)
        self.work_answers = WorkAnswers(self.works, self.memories, access, self.meaning)
        self.work_recall = WorkRecall(self.works, self.work_answers)
        consent, places = LocalConsent(), LocalProjects()
        self.capture = Capture(
            memories=self.memories,
            clock=self.clock,
            projects=places,
            access=access,
            redact=self.redactor,
            consent=consent,
            stored=self._stored,
        )
        self.capture_work = CaptureWork(
            works=self.works,
            memories=self.memories,
            clock=self.clock,
            projects=places,
            redact=self.redactor,
            consent=consent,
            mend=self.mend,
            enabled=lambda: self.knobs.current().work == "on",
            lost=LostCheckouts(self.works, self.memories, places),
        )
        self.past_work = HistoryWorker(
            PastHistories(),
            self.journal,
            self.capture_work,
            self.courtesy.wait_for_calm,
            self.failed,
        )
        self.timeline = Timeline(self.memories)
        self.calendar = Calendar(self.columns, access)
        self.conversations = Conversations(self.columns, access, self.memories)
        self.show = Show(self.memories, self.works, access, self.columns.exchanges)
        self.record_ids = RecordIds(self.memories, self.works, access)
        self.privacy = Privacy(self.memories, self.projects)
        self.event_access = EventAccess(self.memories, self.works, access)
        self.contradict = Contradict(self.memories, access, self.clock, self.redactor, self._stored)
        self.reinforce = Reinforce(self.memories, access, self.clock)
        self.pin = Pin(self.memories, access)
        self.held = SqliteHeld(self.database, self.memories.counted)
        self.forget = Forget(
            self.memories,
            access,
            self.clock,
            self.forgotten,
            ForgetBudget(self.journal, self.clock),
            self.held,
        )
        self.restore_forgotten = RestoreForgotten(self.held, self.clock, self._came_back)
        self.reinstate = Reinstate(self.memories, access)
        self.forget_work = ForgetWork(self.works, access, self.clock)
        self.transfer = Transfer(self.memories, self.projects, self.redactor)
        self.transfer_work = TransferWork(
            self.works, self.memories, self.projects, self.redactor, self.mend
        )
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
        self.reaching = BackupForgetter(self.reach, self.failed)
        self.injections = Injections(self.memories, self.journal, self.clock, self.later)
        self.after_failure = AfterFailure(
            self.works,
            access,
            lambda: self.knobs.current().after_failure == "on",
            self.model.token_counter,
            self.injections,
        )
        self.session_start = SessionStart(
            memories=self.memories,
            works=self.works,
            access=access,
            extent=partial(extent, self.columns),
            count_tokens=self.model.token_counter,
            injections=self.injections,
            depth=lambda: self.knobs.current().injection_depth,
            now=self.clock.now,
        )
        self.prompt_injection = PromptInjection(
            memories=self.memories,
            access=access,
            index=SqliteWordIndex(self.database),
            exchanges=self.columns.exchanges,
            mode=lambda: self.knobs.current().prompt_injection,
            count_tokens=self.model.token_counter,
            injections=self.injections,
            clock=self.clock,
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

    def _sizes(self) -> Sizes:
        try:
            size = self.database.path.stat().st_size
        except OSError:  # somebody took the file away: who asks is told so elsewhere
            size = 0
        return Sizes(self.memories.count(), size, resident())

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
        self.past_work.start()
        self.past_work.wake()
        self.packing.start()
        self.packing.wake()
        self.later(self.columns.catch_up)  # what the first recall would otherwise wait for
        self.later(self.injections.load)

    @cached_property
    def sleep(self) -> "Sleep":
        """What sleep does, in pages. Its rules are read when it is first wanted, not at each start."""
        from iai_mcp import sleep

        return sleep.compose(self)

    @cached_property
    def sharing(self) -> "Sharing":
        """What is shared with other machines. Keys and places are heavy, and most stores have none."""
        from iai_mcp import share

        return share.compose(self)

    @property
    def shares(self) -> bool:
        """Whether there is any circle."""
        return self.memories.is_shared()

    def learns(self) -> bool:
        """Whether people want things derived from what they said."""
        return self.knobs.current().learning == "on"

    def facts(self) -> dict[str, object]:
        """What `status` tells about the store."""
        embedder = self.embedder.get()
        return {
            "records": self.memories.count(),
            **self.backlog.left(),
            "forgetting": self.memories.unreached_count(),
            "model": embedder if isinstance(embedder, str) else embedder.model_id,
            "model_ready": not isinstance(embedder, str),
            "store": str(self.directory),
            "last_sleep": self.nights.last,
        }

    def end_calls(self) -> None:
        """Those that take long come to an end: what they leave undone is done later."""
        self.ending.set()
        if "sharing" in self.__dict__:
            self.sharing.end()
        self.nights.end()

    def close(self) -> None:
        """Stop background work and close the file. Calling it twice is harmless."""
        self.end_calls()
        if "sharing" in self.__dict__:
            self.sharing.close()
        self.later.stop()
        self.reaching.stop()
        self.past_work.stop()
        self.backlog.stop()
        self.packing.stop()
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
        return self.reaching.soon_or_now()

    def failed(self, what: str, failure: Exception) -> None:
        """Something failed that nobody waits for."""
        self.on_failure(what, failure)

    @property
    def vectors(self) -> Vectors | None:
        return self.model.vectors

    def _stored(self, outcomes: Sequence[Stored]) -> None:
        if any(one.status == "inserted" for one in outcomes):
            self.backlog.wake()
            self.packing.wake()

    def _came_back(self) -> None:
        self.backlog.wake()
        self.packing.wake()
        self.memories.told()

    def forgotten(self, keys: Sequence[int]) -> None:
        self.columns.drop(keys)
        self.model.drop(keys)
        self.packing.wake()


def _log_failure(name: str, failed: Exception) -> None:
    _log.error("task_failed", exc_info=failed, extra={"task": name})


def _spare_cores(wanted: int) -> Callable[[int], int]:
    return (lambda _: wanted) if wanted else SpareCores()


def _recalls_at_once() -> int:
    """How many weigh what they found at the same time. While one reads from the store or compares
    vectors, another can have the interpreter; more only take it from each other. Eight at once answer
    fewer in a second than one after the other do, and each takes longer.
    """
    return min(2, os.cpu_count() or 1)


def _load_embedder() -> Embedder:
    from iai_mcp.adapters.embedding.runtime import load_configured

    return load_configured()
