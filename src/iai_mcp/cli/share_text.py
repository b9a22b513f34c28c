"""What the methods of sharing answer, as people read it."""

from collections.abc import Mapping, Sequence

from iai_mcp.cli import output
from iai_mcp.domain.shown_text import shortened, shown_line

_SAMPLE = 100
_SHOWN = 5  # of many of one kind

Answer = Mapping[str, object]


def told(action: str, result: Answer) -> str:
    return _TEXTS[action](result)


def _created(result: Answer) -> str:
    circle = _of(result, "circle")
    name, you = circle["name"], circle["member"]
    return (
        f"{name} lies at {circle['place']} now; your name there is {you}\n"
        f"  another machine of yours joins with the code of: iai-mcp share invite '{name}' --for '{you}'\n"
        f"  somebody else's with that of: iai-mcp share invite '{name}'"
    )


def _invited(result: Answer) -> str:
    return (
        f"{result['code']}\n"
        f"good once, until {str(result['expires'])[:16].replace('T', ' ')} UTC; "
        "whoever has it can join: hand it over as you would a key\n"
        f"on the other machine: iai-mcp share join CODE{' --all' if result.get('all') else ''}"
        + (_OF_YOURS.format(result["you"]) if result.get("you") and not result.get("for") else "")
    )


def _joined(result: Answer) -> str:
    circle = _of(result, "circle")
    if result.get("held"):
        first = f"this machine asked to be let into {circle['name']} as {circle['member']}: {result['held']}"
    else:
        first = f"this machine belongs to {circle['name']} now, as {circle['member']}"
    return (
        f"{first}\n"
        "  what others share comes by itself; "
        + (
            "they are told all of yours that is not private"
            if circle.get("all")
            else f"to share yours: iai-mcp share project PROJECT --with '{circle['name']}'"
        )
        + "".join(f"\n  {line}" for line in unmatched(result))
    )


def _shared(result: Answer) -> str:
    return f"{result['circle']} is told of {result['project']}: {result['turns']} turns, and what comes"


def _unshared(result: Answer) -> str:
    return (
        f"{result['circle']} is told no more of {result['project']}; "
        "what it was told stays there until you forget it"
    )


def _previewed(result: Answer) -> str:
    lines = [
        f"{result['turns']} turns would leave; in {result['redacted']} of them secrets are replaced first"
    ]
    samples = result.get("samples")
    for sample in samples if isinstance(samples, list) else ():
        lines.append(f"  {shown_line(shortened(str(sample), _SAMPLE))}")
    return "\n".join(lines)


def _listed(result: Answer) -> str:
    rows = [
        [
            str(one["name"]),
            str(one["place"]),
            str(one["member"]),
            "everything" if one["all"] else ", ".join(_own(one)) or "nothing yet",
        ]
        for one in _items(result, "circles")
    ]
    return output.table(rows, ["CIRCLE", "PLACE", "YOU ARE", "YOU SHARE"]) if rows else _NONE


def _own(circle: Answer) -> list[str]:
    return [str(one["name"]) for one in _items(circle, "projects") if one["shared"]]


def _status(result: Answer) -> str:
    return "\n\n".join(map(_standing, _items(result, "circles"))) or _NONE


def _standing(one: Answer) -> str:
    seen = str(one["last_contact"] or "never")[:19].replace("T", " ")
    lines = [
        output.paint(f"{one['name']}  {one['place']}", "bold"),
        f"  {one['pending_out']} to send, {one['applied']} from others, "
        f"{one['behind']} not heard yet; last contact {seen}",
    ]
    if one.get("trouble"):
        lines.append(output.paint(f"  {one['trouble']}", "yellow"))
    lines += [output.paint(f"  {told}", "yellow") for told in _troubles(one)]
    aside = _items(one, "set_aside")
    for bad in aside[:_SHOWN]:
        told = f"  set aside: record {bad['number']} of {str(bad['device'])[:8]}: {bad['why']}"
        lines.append(output.paint(told, "yellow"))
    if (more := int(str(one.get("set_aside_count", len(aside)))) - len(aside[:_SHOWN])) > 0:
        lines.append(output.paint(f"  set aside: {more} more", "yellow"))
    strangers = one.get("strangers")
    for device in strangers[:_SHOWN] if isinstance(strangers, list) else ():
        told = f"  {str(device)[:8]} writes there and does not belong: nothing of it is heard"
        lines.append(output.paint(told, "yellow"))
    for odd in _items(one, "oddities")[:_SHOWN]:
        told = f"  {shown_line(str(odd['where']))} lies in the place: {odd['why']}"
        lines.append(output.paint(told, "yellow"))
    lines += [f"  {line}" for line in unmatched(one)]
    if one.get("doubted_invitations"):
        lines.append(
            output.paint("  two machines came with one code: remove one of them", "yellow")
        )
    lines += [
        f"  {device['member']} · {device['machine']} · record {device['number']}"
        for device in _items(one, "devices")
    ]
    return "\n".join(lines)


def _troubles(one: Answer) -> list[str]:
    """What keeps this machine or others from taking part, and what does not fit together."""
    found = []
    if one.get("removed"):
        found.append(f"this machine was removed from it: iai-mcp share leave '{one['name']}'")
    if one.get("held"):
        found.append(str(one["held"]))
    for guest in _items(one, "asking"):
        device, inviter = str(guest["device"])[:8], guest["inviter"]
        found.append(
            f"{device} asks to be let in: that takes the machine of {inviter} that invited it"
        )
    for old in _items(one, "older"):
        found.append(
            f"{old['member']} · {old['machine']} was not heard since the last upgrade: an older version"
            " of iai-mcp can not take part; upgrade it there"
        )
    for difference in _items(one, "differences")[:_SHOWN]:
        found.append(_different(difference))
    return found


def _different(one: Answer) -> str:
    witness, device = _named(_of(one, "witness")), _named(_of(one, "device"))
    if one["kind"] == "fork":
        return (
            f"{witness} and this machine were shown different records of {device} up to {one['number']}:"
            f" whoever runs the place, or {device}, is not honest; compare, and remove who is not"
        )
    if one["kind"] == "copy":
        return (
            f"{witness} heard record {one['number']} of this machine, which is none of this store's: a copy"
            " of this store runs elsewhere, or it was put back; let one of them leave and join again"
        )
    return (
        f"{witness} heard {device} up to record {one['number']}, the place shows {one['here']} here:"
        " it delivers late, or keeps something back"
    )


def _named(device: Answer) -> str:
    return (
        f"{device['member']} · {device['machine']}" if "member" in device else str(device["id"])[:8]
    )


def unmatched(result: Answer) -> list[str]:
    """Where a project of others may be one of this machine's: how to say so."""
    found = result.get("unmatched")
    return [
        f"{key} is no project of this machine; if you have it: iai-mcp project map '{key}' PATH"
        for key in (found if isinstance(found, list) else ())
    ]


def _members(result: Answer) -> str:
    rows = [
        [
            str(one["member"]),
            str(one["machine"]),
            str(one["fingerprint"]),
            "you" if one["own"] else "trusted" if one["trusted"] else "when asked",
        ]
        for one in _items(result, "members")
    ]
    return output.table(rows, ["MEMBER", "MACHINE", "FINGERPRINT", "AGENTS ARE TOLD"])


def _trusted(result: Answer) -> str:
    if result["trusted"]:
        return f"agents are told what {result['member']} said, as if you had said it"
    return f"what {result['member']} said is found when it is asked for, and not told unasked"


def _removed(result: Answer) -> str:
    who = ", ".join(f"{one['member']} ({one['machine']})" for one in _items(result, "removed"))
    told = f"{who}: no longer in {result['circle']}; what they had, they keep"
    return told + ("" if result.get("told", True) else _UNTOLD)


def _left(result: Answer) -> str:
    untold = "" if result["told"] else "; the place can not be reached, so the others were not told"
    return f"left {result['circle']}; what others said stays here{untold}"


def _contacted(result: Answer) -> str:
    return f"{result['sent']} records sent, {result['heard']} heard"


def _of(result: Answer, name: str) -> Answer:
    found = result[name]
    assert isinstance(found, dict)  # noqa: S101 - the method's own promise
    return found


def _items(result: Answer, name: str) -> Sequence[Answer]:
    found = result.get(name)
    assert isinstance(found, list)  # noqa: S101 - the method's own promise
    return found


_OF_YOURS = (
    "\nif that is a machine of yours, invite it with --for {!r}, your name here: "
    "what is said there then counts as said by you"
)
_UNTOLD = "; the place can not be reached: the others hear of it with the next contact"
_NONE = "this machine shares with nobody: iai-mcp share create NAME --at PLACE"
_TEXTS = {
    "create": _created,
    "invite": _invited,
    "join": _joined,
    "project": _shared,
    "unshare": _unshared,
    "preview": _previewed,
    "list": _listed,
    "status": _status,
    "members": _members,
    "trust": _trusted,
    "untrust": _trusted,
    "remove": _removed,
    "leave": _left,
    "now": _contacted,
}
