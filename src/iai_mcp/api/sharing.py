"""Methods of sharing: circles, who belongs to them, what they are told, and how they stand."""

import re
from typing import TYPE_CHECKING

from iai_mcp import project_aliases
from iai_mcp.api.callers import PERSON_AND_AGENTS
from iai_mcp.api.reading import caller_of, micros_of
from iai_mcp.api.table import Json, Method
from iai_mcp.domain.errors import InvalidInput
from iai_mcp.domain.instants import iso
from iai_mcp.domain.projects.identity import from_key
from iai_mcp.memory.scoping import Caller
from iai_mcp.ports.circles import SINCE_EVER
from iai_mcp.protocol.params import Params
from iai_mcp.store import MemoryStore

if TYPE_CHECKING:
    from iai_mcp.ports.circles import KnownCircle
    from iai_mcp.sharing.differences import Difference
    from iai_mcp.sharing.roster import Device
    from iai_mcp.sharing.sharing import Present, Standing

_MOST_DAYS = 30
_LONGEST_WAIT = 60  # seconds
_MOST_SET_ASIDE = 100
_PASSWORD = re.compile(r"(://[^/@:]*):[^/@]*@")


def _create(store: MemoryStore, params: Params) -> Json:
    known = store.sharing.create(
        params.text("name"),
        params.text("at"),
        params.text("as", ""),
        everything=params.flag("all"),
    )
    return {"circle": _own_circle(known)}


def _invite(store: MemoryStore, params: Params) -> Json:
    days = params.integer("days", 1, 1, _MOST_DAYS)
    name, member = params.text("name"), params.text("for", "")
    made, expires = store.sharing.invite(name, member, days)
    known = store.sharing.of(name).known
    return {
        "code": made.code,
        "expires": iso(expires),
        "for": member or None,
        "you": known.member,
        "all": known.everything,
    }


def _join(store: MemoryStore, params: Params) -> Json:
    known = store.sharing.join(
        params.text("code"),
        params.text("at", ""),
        params.text("as", ""),
        everything=params.flag("all"),
        patience=params.integer("wait", 0, 0, _LONGEST_WAIT),
    )
    (standing,) = store.sharing.status(known.name)
    return {
        "circle": _own_circle(known),
        "held": standing.held or None,
        "unmatched": _unmatched(standing),
    }


def _project(store: MemoryStore, params: Params) -> Json:
    from iai_mcp.share import repository_of

    key, circle = _key(store, params), params.text("with")
    since = micros_of(store, params, "since")
    name = from_key(key).name
    told = store.sharing.share(
        circle, key, name, SINCE_EVER if since is None else since, repository_of(key)
    )
    return {"circle": circle, "project": key, "name": name, "turns": told}


def _unshare(store: MemoryStore, params: Params) -> Json:
    key, circle = _key(store, params), params.text("with")
    store.sharing.unshare(circle, key)
    return {"circle": circle, "project": key}


def _preview(store: MemoryStore, params: Params) -> Json:
    key, since = _key(store, params), micros_of(store, params, "since")
    found = store.sharing.preview(key, SINCE_EVER if since is None else since)
    return {
        "project": key,
        "turns": found.turns,
        "redacted": found.redacted,
        "samples": list(found.samples),
    }


def _key(store: MemoryStore, params: Params) -> str:
    """The one project that is named, and may be told about."""
    named, cwd = params.text("project"), params.text("cwd", "")
    known = store.memories.projects()
    key = store.projects.key_of(named, cwd)
    found = [key] if key in known else store.projects.matching(named, known) or [key]
    if not key or len(found) != 1:
        raise InvalidInput(
            f"{len(found)} projects are called that: give the path of the one you mean"
        )
    if found[0] in store.access.closed_to(Caller()):
        raise InvalidInput(
            "that project is private, and stays here: iai-mcp privacy off makes it an open one"
        )
    return found[0]


def _list(store: MemoryStore, params: Params) -> Json:
    if not store.shares:
        return {"circles": []}
    view = store.access.owners_view(caller_of(params))
    return {
        "circles": [
            {
                **_own_circle(one.known),
                "projects": [
                    {"name": p.name, "project": p.project or None, "shared": p.shared}
                    for p in one.projects
                    if p.id and view.opens(p.project)
                ],
            }
            for one in store.sharing.status()
        ]
    }


def _status(store: MemoryStore, params: Params) -> Json:
    name = params.text("name", "")
    if not name and not store.shares:
        return {"circles": []}
    return {"circles": [_standing(one) for one in store.sharing.status(name)]}


def _members(store: MemoryStore, params: Params) -> Json:
    found = store.sharing.members(params.text("name"))
    return {"members": [_member(one) for one in found]}


def _trust(store: MemoryStore, params: Params) -> Json:
    return _trusted(store, params, trusted=True)


def _untrust(store: MemoryStore, params: Params) -> Json:
    return _trusted(store, params, trusted=False)


def _trusted(store: MemoryStore, params: Params, *, trusted: bool) -> Json:
    name, member = params.text("name"), params.text("member")
    store.sharing.trust(name, member, trusted)
    return {"circle": name, "member": member, "trusted": trusted}


def _remove(store: MemoryStore, params: Params) -> Json:
    name = params.text("name")
    gone = store.sharing.remove(name, params.text("member"))
    return {
        "circle": name,
        "removed": [{"member": one.member, "machine": one.machine, "id": one.id} for one in gone],
        "told": not store.sharing.status(name)[0].known.trouble,
    }


def _leave(store: MemoryStore, params: Params) -> Json:
    name = params.text("name")
    return {"circle": name, "told": store.sharing.leave(name)}


def _now(store: MemoryStore, params: Params) -> Json:
    name = params.text("name", "")
    if not name and not store.shares:
        return {"sent": 0, "heard": 0, "circles": []}
    done = store.sharing.now(name)
    return {
        "sent": sum(contact.sent + contact.repaired for _, contact in done),
        "heard": sum(contact.heard for _, contact in done),
        "circles": [
            {
                "name": known.name,
                "sent": contact.sent + contact.repaired,
                "heard": contact.heard,
                "repaired": contact.repaired,
            }
            for known, contact in done
        ],
    }


def _own_circle(known: "KnownCircle") -> Json:
    return {**_circle(known), "member": known.member, "all": known.everything}


def _circle(known: "KnownCircle") -> Json:
    return {"id": known.id, "name": known.name, "place": _PASSWORD.sub(r"\1:***@", known.place)}


def _standing(one: "Standing") -> Json:
    known = one.known
    return {
        "name": known.name,
        "place": _circle(known)["place"],
        "pending_out": one.pending,
        "applied": one.applied,
        "behind": one.behind,
        "last_contact": iso(known.contact) if known.contact else None,
        "trouble": known.trouble or None,
        "set_aside": [
            {"device": bad.device, "number": bad.number, "why": bad.why}
            for bad in one.set_aside[:_MOST_SET_ASIDE]
        ],
        "set_aside_count": len(one.set_aside),
        "held": one.held or None,
        "removed": one.removed,
        "asking": [{"device": guest.device, "inviter": guest.inviter} for guest in one.asking],
        "older": [_device(device) for device in one.older],
        "differences": [_difference(one, found) for found in one.differences],
        "doubted_invitations": len(one.doubted),
        "strangers": list(one.strangers),
        "oddities": [{"where": odd.where, "why": odd.why} for odd in one.oddities],
        "unmatched": _unmatched(one),
        "devices": [
            {
                "id": present.device.id,
                "member": present.device.member,
                "machine": present.device.machine,
                "number": present.number,
            }
            for present in one.devices
        ],
    }


def _device(device: "Device") -> Json:
    return {"id": device.id, "member": device.member, "machine": device.machine}


def _difference(standing: "Standing", found: "Difference") -> Json:
    names = {one.device.id: one.device for one in standing.devices}

    def shown(device: str) -> Json:
        known = names.get(device)
        return {"id": device} if known is None else _device(known)

    return {
        "kind": found.kind,
        "witness": shown(found.witness),
        "device": shown(found.device),
        "number": found.number,
        "here": found.here,
    }


def _unmatched(one: "Standing") -> list[str]:
    """Projects of the circle that are none of this machine's, under the names they have here."""
    mapped = project_aliases.load()
    ending = f"@{one.known.name}"
    return [
        p.project for p in one.projects if p.project.endswith(ending) and p.project not in mapped
    ]


def _member(one: "Present") -> Json:
    return {
        "member": one.device.member,
        "machine": one.device.machine,
        "id": one.device.id,
        "fingerprint": one.fingerprint,
        "own": one.own,
        "trusted": one.own or one.trusted,
        "number": one.number,
    }


METHODS: tuple[Method[MemoryStore], ...] = (
    Method("share_create", _create, command="iai-mcp share create"),
    Method("share_invite", _invite, command="iai-mcp share invite"),
    Method("share_join", _join, command="iai-mcp share join"),
    Method("share_project", _project, command="iai-mcp share project"),
    Method("share_unshare", _unshare, command="iai-mcp share unshare"),
    Method("share_preview", _preview, command="iai-mcp share preview"),
    Method("share_list", _list, activity=False, callers=PERSON_AND_AGENTS),
    Method("share_status", _status, activity=False, page=True, callers=PERSON_AND_AGENTS),
    Method("share_members", _members, activity=False, callers=PERSON_AND_AGENTS),
    Method("share_trust", _trust, command="iai-mcp share trust"),
    Method("share_untrust", _untrust, command="iai-mcp share untrust"),
    Method("share_remove", _remove, command="iai-mcp share remove"),
    Method("share_leave", _leave, command="iai-mcp share leave"),
    Method("share_now", _now, command="iai-mcp share now"),
)
