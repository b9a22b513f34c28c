"""What a place shows one device and not another: found by comparing what devices say they heard."""

from collections.abc import Iterable
from dataclasses import dataclass

from iai_mcp.ports.sharing_ledger import SharingLedger

FORK = "fork"  # two devices were shown different records under one number
CUT = "cut"  # another device heard more than this one is shown
COPY = "copy"  # this machine's own stream goes on elsewhere


@dataclass(frozen=True, slots=True)
class Difference:
    """`witness` heard the stream of `device` up to `number`; this device heard it up to `here`."""

    kind: str
    witness: str
    device: str
    number: int
    here: int


def differences(ledger: SharingLedger, own: str, present: Iterable[str]) -> list[Difference]:
    """What those who are present say they heard, where it is not what was heard here."""
    found = []
    counted = set(present)
    for one in ledger.witnesses():
        if one.witness not in counted or one.witness == own:
            continue
        here = ledger.last_sent() if one.device == own else ledger.cursor(one.device)
        known = ledger.digest(one.device, one.number)
        if known and known != one.digest:
            kind = COPY if one.device == own else FORK
        elif one.number > here and one.device == own:
            kind = COPY
        elif one.number > here and one.device in counted:
            kind = CUT
        else:
            continue
        found.append(Difference(kind, one.witness, one.device, one.number, here))
    return found
