"""axe-core: the usual checks of accessibility, run in a page."""

import importlib.util
import os
from pathlib import Path

MISSING = (
    "NO AXE: accessibility is not tested. pip install axe-playwright-python, or name an axe.min.js in PLURANK_AXE."
)
# nothing is asked about what is right, and no selectors, which take as long to find as the rest
RUN = """async () => (await axe.run({resultTypes: ["violations"], selectors: false})).violations.flatMap(
  (rule) => rule.nodes.map((node) => `${rule.id}: ${node.html.slice(0, 160)}`))"""


def find_axe():
    """Return the path of axe-core's script, or None."""
    named = os.environ.get("PLURANK_AXE")
    if named:
        return Path(named)
    package = importlib.util.find_spec("axe_playwright_python")
    return None if package is None else Path(package.origin).with_name("axe.min.js")


def violations(page):
    """Return what axe finds wrong in a page, a line for each element. A page may forbid scripts: open it bypass_csp."""
    page.add_script_tag(path=find_axe())
    return page.evaluate(RUN)
