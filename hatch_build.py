"""What is done before a wheel or an sdist is made: the page's libraries are fetched, by digest.

Without a network the build goes on and says what the page will lack.
"""

from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class PageLibraries(BuildHookInterface[Any]):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version != "editable":  # scripts/environment fetches them, and shows it
            _page_libraries(Path(self.root)).main()


def _page_libraries(root: Path) -> Any:
    loader = SourceFileLoader("page_libraries", str(root / "scripts" / "page-libraries"))
    spec = spec_from_loader(loader.name, loader)
    assert spec is not None  # it has a loader
    module = module_from_spec(spec)
    loader.exec_module(module)
    return module
