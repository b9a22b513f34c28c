"""Reading and turning the knobs; what was turned persists with the store."""

from dataclasses import asdict, dataclass

from iai_mcp.domain.knobs import Knobs, Value, from_stored, knob_named, read_value
from iai_mcp.ports.journal import Journal


@dataclass(frozen=True, slots=True)
class Turned:
    """A knob that was turned."""

    knob: str
    before: Value
    value: Value


@dataclass(frozen=True, slots=True)
class KnobBoard:
    """All knobs of one store."""

    journal: Journal

    def current(self) -> Knobs:
        return from_stored(self.journal.settings())

    def turn(self, name: str, given: object) -> Turned:
        """Turn one knob to whatever was given; the word "default" puts it back.

        Raises:
            InvalidInput: there is no such knob, or it can not be set to that.
        """
        knob = knob_named(name)
        before: Value = asdict(self.current())[knob.name]
        value = read_value(knob, asdict(Knobs())[knob.name] if given == "default" else given)
        self.journal.set_setting(knob.name, str(value))
        return Turned(knob.name, before, value)
