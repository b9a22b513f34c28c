"""What mended the very same failure before: for the agent whose command has just failed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from iai_mcp.domain.commands import errors_in, family
from iai_mcp.domain.injected_text import CountTokens, InjectedText, Source
from iai_mcp.domain.quoting import in_line, quotation
from iai_mcp.domain.work import Command, Edit, Record, text_of
from iai_mcp.memory.injections import Injections
from iai_mcp.memory.scoping import Access, Caller, Filter
from iai_mcp.memory.work_answers import open_mendings
from iai_mcp.ports.memories import Scope
from iai_mcp.ports.works import Works

_FAILURES = 20
_LONGEST_LINE = 240
_MOST_STEPS = 5


@dataclass(frozen=True, slots=True)
class FailedCommand:
    """What has just failed, where, and what it printed."""

    command: str
    output: str
    session_id: str
    project: str  # a name or a path; "" is where the caller is
    caller: Caller


@dataclass(frozen=True, slots=True)
class AfterFailure:
    """Silent unless it is the same command's failure, with the same error, in the same project, and
    known to be mended in another session."""

    works: Works
    access: Access
    enabled: Callable[[], bool]
    count_tokens: Callable[[], CountTokens]
    injections: Injections

    def __call__(self, failed: FailedCommand) -> InjectedText:
        project = self.access.projects.key_of(failed.project, failed.caller.cwd)
        if not self.enabled() or not project:
            return InjectedText()
        scope = self.access.scope(Filter(project=project), failed.caller)
        made = self._made(failed, scope)
        self.injections.record("failure", failed.session_id, project, made)
        return made

    def _made(self, failed: FailedCommand, scope: Scope) -> InjectedText:
        errors = errors_in(failed.output)
        same = self._same(failed, errors, scope)
        given = self.injections.given_to(failed.session_id)
        for mending in open_mendings(self.works, [one.key for one in same], scope):
            failure = next(one for one in same if one.key == mending.failure)
            steps = self.works.get(mending.steps)
            if steps and failure.id not in given:
                text = _told(failure, steps, errors)
                source = Source(failure.id, "the same failure")
                return InjectedText(text, self.count_tokens()(text), (source,))
        return InjectedText()

    def _same(self, failed: FailedCommand, errors: Sequence[str], scope: Scope) -> list[Record]:
        """Failures of the same command elsewhere that begin with the same error."""
        if not errors:
            return []
        found = self.works.get(self.works.failing_with(errors[:1], scope, _FAILURES))
        own = self.injections.lineage(failed.session_id)
        return [
            one
            for one in found
            if isinstance(one.done, Command)
            and one.provenance.session_id not in own
            and family(one.done.command) == family(failed.command)
            and errors_in(one.done.output)[:1] == errors[:1]
        ]


def _told(failure: Record, steps: Sequence[Record], errors: Sequence[str]) -> str:
    done = failure.done
    said = next((line for line in _lines(done) if errors_in(line)[:1] == errors[:1]), errors[0])
    when = failure.at.text[:10]
    head = (
        f"This failure was mended before in this project, on {when} "
        f"({in_line(failure.provenance.host) or 'another session'}):"
    )
    mended = "\n".join(text_of(one.done)[:_LONGEST_LINE] for one in steps[-_MOST_STEPS:])
    kind = "these edits" if all(isinstance(one.done, Edit) for one in steps) else "this"
    return "\n".join(
        (
            head,
            quotation(said.strip()[:_LONGEST_LINE]),
            f"went away after {kind}:",
            quotation(mended),
        )
    )


def _lines(done: object) -> list[str]:
    return done.output.splitlines() if isinstance(done, Command) else []
