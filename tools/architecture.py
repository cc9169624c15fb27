"""How easy the sources are to find one's way in: a table of counts, for one or several checkouts.

    python tools/architecture.py [CHECKOUT ...]

lines, files:        Python below src, without native sources
behind TopicRanking: modules that importing it loads, without kernels
names twice:         top-level names that two modules define
file names twice:    of modules in different packages
Floats:              definitions of the type
private from afar:   uses of another module's private names or another object's private members
Give, Tell, Refuse:  docstrings that begin so
without sections:    public names without numpydoc sections
"""

import ast
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).parents[1]
OLD_WORDS = ("Give", "Tell", "Refuse")
MODELS = ("TopicRanking", "MixedRanking")
COUNT_MODULES = """
import sys, plurank
getattr(plurank, sys.argv[1])
ours = {name for name in sys.modules if name.startswith("plurank.") and not name.startswith("plurank.kernels")}
print(sum(getattr(sys.modules[name], "__file__", "").endswith(".py") and name.count(".") > 0 for name in ours))
"""
LIST_UNDOCUMENTED = """
import inspect, plurank
for name in plurank.__all__:
    value = getattr(plurank, name)
    if inspect.ismodule(value) or (inspect.isclass(value) and issubclass(value, (Exception, Warning))):
        continue
    text = inspect.getdoc(value) or ""
    if not any(f"{head}\\n---" in text for head in ("Parameters", "Attributes", "Returns")):
        print(name)
"""


def modules(checkout: Path) -> dict[str, ast.Module]:
    """Return the syntax trees of all modules, by path below src/plurank."""
    root = checkout / "src/plurank"
    return {str(path.relative_to(root)): ast.parse(path.read_text()) for path in sorted(root.rglob("*.py"))}


def top_names(tree: ast.Module) -> Iterator[str]:
    """Yield the names that a module defines, without those of types and dunder names."""
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name


def count_docstrings(tree: ast.Module) -> int:
    """Count docstrings that begin with an old word."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    texts = (ast.get_docstring(node) or "" for node in ast.walk(tree) if isinstance(node, kinds))
    return sum(text.split(" ")[0] in OLD_WORDS for text in texts)


def count_private(tree: ast.Module) -> int:
    """Count uses of private members of other objects, and imports of private names."""
    own = {node.name for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    own |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)}
    found = 0
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("plurank"):
            found += sum(alias.name.startswith("_") for alias in node.names)
        if isinstance(node, ast.Attribute) and node.attr.startswith("_") and not node.attr.endswith("__"):
            base = node.value
            is_own = isinstance(base, ast.Name) and base.id in ("self", "cls", "super", "os", "sys")
            found += not is_own and not isinstance(base, ast.Call) and node.attr not in own
    return found


def run(checkout: Path, code: str, *arguments: str) -> list[str]:
    """Run code with the sources of a checkout; return the lines that it prints."""
    environment = os.environ | {"PYTHONPATH": str(checkout / "src")}
    command = [sys.executable, "-W", "ignore", "-c", code, *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.split()


def measure(checkout: Path) -> dict[str, int]:
    """Return all counts of a checkout."""
    trees = modules(checkout)
    root = checkout / "src/plurank"
    names = Counter(name for path, tree in trees.items() if "plain" not in path for name in {*top_names(tree)})
    files = Counter(Path(path).name for path in trees if not path.endswith("__init__.py") and "plain" not in path)
    floats = sum(
        isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == "Floats"
        for tree in trees.values()
        for node in tree.body
    )
    return {
        "lines": sum(len((root / path).read_text().splitlines()) for path in trees),
        "files": len(trees),
        **{f"behind {model}": int(run(checkout, COUNT_MODULES, model)[0]) for model in MODELS},
        "names twice": sum(n > 1 for n in names.values()),
        "file names twice": sum(n > 1 for n in files.values()),
        "Floats": floats,
        "private from afar": sum(map(count_private, trees.values())),
        ", ".join(OLD_WORDS): sum(map(count_docstrings, trees.values())),
        "without sections": len(run(checkout, LIST_UNDOCUMENTED)),
    }


def main() -> None:
    """Print the table."""
    checkouts = [Path(argument) for argument in sys.argv[1:]] or [HERE]
    columns = [measure(checkout) for checkout in checkouts]
    for name in columns[0]:
        print(f"{name:22}", *(f"{column[name]:8,}" for column in columns))


if __name__ == "__main__":
    main()
