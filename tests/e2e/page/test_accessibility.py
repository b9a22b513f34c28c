"""Everybody can use the page: checked by axe-core in every view, in both themes."""

from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Page, expect
from tests.support.browsing import view
from tests.support.daemon import DaemonProcess

AXE = Path(__file__).parents[3] / ".venv/page-tests/axe-core/axe.min.js"
# Each view with what has to be there before it is looked at.
VIEWS = {
    "now": ".fact",
    "ask?q=staging+port": "#found .item",
    "conversations": ".item",
    "conversations/talk": ".transcript .item",
    "injected": "details.injection",
    "care": "tr.item",
    "time": "a.day, .plot canvas",
    "agents": ".sessions > *",
    "machine": "section.knobs tr.item",
}
FOUND = """async () => {
  const told = await axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice'] });
  if (told.passes.length < 5) return ['axe-core looked at nothing'];
  return told.violations.filter((one) => ['serious', 'critical', 'moderate'].includes(one.impact))
    .map((one) => `${one.id} (${one.impact}): ${one.nodes.slice(0, 3).map((node) => node.html).join(' | ')}`);
}"""


@pytest.mark.skipif(
    not AXE.exists(), reason="no axe-core: scripts/page-libraries --tests fetches it"
)
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_view_can_be_used_by_everybody(
    page: Page, daemon: DaemonProcess, theme: Literal["light", "dark"]
) -> None:
    page.evaluate("theme => { document.documentElement.dataset.theme = theme }", theme)
    page.evaluate(AXE.read_text())
    troubles: dict[str, list[str]] = {}
    for name, ready in VIEWS.items():
        view(page, name)
        title = name.partition("?")[0].partition("/")[0].capitalize()
        expect(page.locator("nav a[aria-current]")).to_have_text(title)
        expect(page.locator(f"main {ready}").first).to_be_visible()
        if name == "ask?q=staging+port":
            page.get_by_text("Filters").click()
        if found := page.evaluate(FOUND):
            troubles[name] = found
    page.get_by_role("button", name="Keys").click()
    if found := page.evaluate(FOUND):
        troubles["keys"] = found
    assert troubles == {}
