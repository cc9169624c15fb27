"""Docstrings of public names and methods agree with the signatures, and the examples in docstrings run."""

import doctest
import inspect
import re
from importlib import import_module
from pathlib import Path

import pytest

import plurank

REFERENCE = (Path(__file__).parents[2] / "docs/reference/python.md").read_text()
PACKAGE = Path(plurank.__file__).parent
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
MODULES = [path.relative_to(PACKAGE.parent) for path in sorted(PACKAGE.rglob("*.py")) if ">>> " in path.read_text()]


def find(path):
    """Return what a dotted name of the reference stands for."""
    value = plurank
    for n, part in enumerate(names := path.split(".")[1:]):
        value = getattr(value, part, None) or import_module(f"plurank.{'.'.join(names[: n + 1])}")
    return value


def shown():
    """Yield what the reference shows, classes with their members, by name."""
    for path, members in re.findall(r"^::: (\S+)\n(?: +options:\n +members: \[([^\]]*)\])?", REFERENCE, re.MULTILINE):
        value = find(path)
        if inspect.isclass(value) and issubclass(value, Exception):
            continue
        yield path, value
        for name in re.findall(r"\w+", members):
            yield f"{path}.{name}", getattr(value, name)


SHOWN = {name: value for name, value in shown() if callable(value)}  # without properties


def sections_of(value):
    """Return the sections of a docstring by title."""
    parts = re.split(r"^([A-Z][a-z]+)\n-+\n", inspect.getdoc(value) or "", flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


# without results, which plurank alone makes
TAKE_PARAMETERS = [
    name for name, value in SHOWN.items() if not inspect.isclass(value) or "Parameters" in sections_of(value)
]


@pytest.mark.parametrize("name", TAKE_PARAMETERS)
def test_parameters_and_defaults_in_a_docstring_are_those_of_the_signature(name):
    sections = sections_of(SHOWN[name])
    documented = {}
    for names, default in re.findall(r"^(\S.*?) : .*?(?:default=(.*))?$", sections.get("Parameters", ""), re.MULTILINE):
        documented |= {each.strip("* "): default for each in names.split(",")}
    taken = {key: one.default for key, one in inspect.signature(SHOWN[name]).parameters.items() if key != "self"}
    assert list(documented) == list(taken)
    for key, default in taken.items():
        if key == "y" or default is inspect.Parameter.empty:
            assert documented[key] == ""
        elif callable(default):
            assert documented[key] == default.__name__
        else:
            assert eval(documented[key]) == default


@pytest.mark.parametrize("name", SHOWN)
def test_a_docstring_says_what_is_returned_or_held(name):
    has = sections_of(SHOWN[name]).keys()
    expected = {"Attributes", "Parameters"} if inspect.isclass(SHOWN[name]) else {"Returns", "Raises", "Parameters"}
    assert has & expected


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_examples_in_docstrings_run(module, tmp_path, monkeypatch):
    found = import_module(".".join(module.with_suffix("").parts))
    examples = [test for test in doctest.DocTestFinder().find(found, globs={}) if test.examples]
    assert examples
    for number, test in enumerate(examples):
        (folder := tmp_path / str(number)).mkdir()
        monkeypatch.chdir(folder)
        report = []
        assert not doctest.DocTestRunner(optionflags=FLAGS).run(test, out=report.append).failed, "".join(report)
