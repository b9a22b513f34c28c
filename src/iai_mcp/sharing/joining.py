"""Founding a circle, inviting to it, asking to be let in."""

import secrets

from iai_mcp.domain.errors import InvalidInput
from iai_mcp.domain.shared_events import EpochKey, Hello, Invited
from iai_mcp.ports.shared_log import SharedLog
from iai_mcp.ports.sharing_ledger import Asked
from iai_mcp.sharing.circle import Circle
from iai_mcp.sharing.incoming import key_context
from iai_mcp.sharing.invitations import Invitation, Welcome
from iai_mcp.sharing.keys import KEY_BYTES, DeviceKeys, InviteSecret, epoch_of, sealed_for
from iai_mcp.sharing.roster import proof_of


def new_circle_id() -> str:
    return secrets.token_hex(16)


def found(circle: Circle, member: str, machine: str, now: int) -> None:
    """The first words of the first device."""
    key, own = secrets.token_bytes(KEY_BYTES), circle.keys
    epoch = epoch_of(key)
    sealed = {own.device: sealed_for(own.sealing_key, key, key_context(circle.id, epoch))}
    circle.ledger.keep_epoch_keys({epoch: key})
    circle.say([_hello(own, member, machine)])
    circle.say([EpochKey(epoch=epoch, began=max(now, 0), sealed=sealed)])


def invite(circle: Circle, place: str, name: str, member: str, expires: int) -> Invitation:
    """Lay a welcome into the place, after the circle was told that somebody may come."""
    secret = InviteSecret.made()
    key = secret.proof_key
    circle.say([Invited(invite=secret.name, key=key, member=member, expires=expires)])
    circle.send()
    welcome = Welcome(
        name=name,
        founder=circle.founder,
        member=member,
        expires=expires,
        signing_key=circle.keys.signing_key,
        sealing_key=circle.keys.sealing_key,
    )
    circle.log.offer(secret.name, welcome.sealed(secret))
    return Invitation(place, circle.id, circle.keys.device, secret)


def taken_welcome(log: SharedLog, invitation: Invitation, now: int) -> Welcome:
    """Take the welcome out of the place.

    Raises:
        NotFound: the code was used, or withdrawn.
        InvalidInput: the code's time is over.
    """
    welcome = Welcome.opened(log.take(invitation.secret.name), invitation)
    if welcome.expires < now:
        raise InvalidInput(
            "the code's time is over, or the clock of one of the two machines is wrong: ask for a new one"
        )
    return welcome


def join(
    circle: Circle, welcome: Welcome, invitation: Invitation, member: str, machine: str
) -> None:
    """The first words of a device that was invited: they ask to be let in."""
    circle.ledger.ask(Asked(invitation.secret.name, welcome.signing_key, welcome.sealing_key))
    circle.say([_hello(circle.keys, welcome.member or member, machine, invitation.secret)])


def _hello(
    keys: DeviceKeys, member: str, machine: str, secret: InviteSecret | None = None
) -> Hello:
    def told(proof: bytes) -> Hello:
        return Hello(
            member=member,
            machine=machine,
            signing_key=keys.signing_key,
            sealing_key=keys.sealing_key,
            invite="" if secret is None else secret.name,
            proof=proof,
        )

    return told(b"" if secret is None else secret.proof(proof_of(keys.device, told(b""))))
