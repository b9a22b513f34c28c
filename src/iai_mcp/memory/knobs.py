"""Reading and turning the knobs; what was turned persists with the store."""

from dataclasses import asdict, dataclass

from iai_mcp.domain.knobs import KNOBS, Knobs, from_stored, knob_named, read_value
from iai_mcp.ports.journal import Journal
from iai_mcp.protocol.params import Params


@dataclass(frozen=True, slots=True)
class KnobBoard:
    """All knobs of one store."""

    journal: Journal

    def current(self) -> Knobs:
        return from_stored(self.journal.settings())

    def get(self, params: Params) -> dict[str, object]:
        """One knob with what it takes, or the values of all."""
        values = asdict(self.current())
        name = params.text("knob", "")
        if not name:
            return {"values": values, "knobs": {n: _described(n) for n in KNOBS}}
        knob_named(name)
        return {"knob": name, "value": values[name], "values": {name: values[name]}} | _described(
            name
        )

    def set(self, params: Params) -> dict[str, object]:
        """Turn one knob; the word "default" puts it back."""
        knob, given = knob_named(params.text("knob")), params.need("value")
        before = asdict(self.current())[knob.name]
        value = read_value(knob, asdict(Knobs())[knob.name] if given == "default" else given)
        self.journal.set_setting(knob.name, str(value))
        return {
            "knob": knob.name,
            "value": value,
            "before": before,
            "values": {knob.name: value},
        }


def _described(name: str) -> dict[str, object]:
    knob = KNOBS[name]
    return {"says": knob.says, "takes": knob.takes, "default": asdict(Knobs())[name]}
