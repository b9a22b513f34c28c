"""What is done before a wheel or an sdist is made: the page's libraries are fetched, by digest.

Without a network the build goes on and says what the page will lack.
"""

import runpy
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class PageLibraries(BuildHookInterface[Any]):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version != "editable":  # scripts/environment fetches them, and shows it
            runpy.run_path(str(Path(self.root, "scripts", "page-libraries")))["main"]()
