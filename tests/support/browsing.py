"""The page as a browser shows it."""

from pathlib import Path

from playwright.sync_api import Page

CHROMIUM = Path("/usr/bin/chromium")
STRANGER = "stranger.example"
HOSTILE = (
    '<img src=x onerror="document.title=1;window.hacked=1"><script>window.hacked=1</script>'
    " [a](javascript:window.hacked=1) staging ![x](x) <svg onload=window.hacked=1>"
)


def view(page: Page, name: str) -> None:
    """Go to a view of the page that is open."""
    page.evaluate("name => { location.hash = '#/' + name }", name)
