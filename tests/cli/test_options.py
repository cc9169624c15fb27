"""Errors name options, never the arguments of the Python functions behind them."""

import ast
import inspect
import re
from pathlib import Path

import pytest
import typer

import plurank
from plurank.cli import error_messages
from plurank.cli.program import app
from plurank.exceptions import Argument

COMMANDS = typer.main.get_command(app).commands
HUGE = 10**12
MISSING = "no/such/file"
# wrong values of every parameter of every command; {few}, {model}, {pairs}, {items} and {out} are files of the test
WRONG = {
    "demo": {"--seed": ["-1", "x"]},
    "fit": {
        "DATA": [MISSING],
        "--rankings": ["0", "two", str(HUGE)],
        "--output": [f"{MISSING}/m", "{few}", "x.csv"],
        "--method": ["other"],
        "--component": ["other", "mallows --mixing utility", "mallows --ensemble 2", "strict --checkpoint {out}"],
        "--mixing": ["other", "utility --method topic"],
        "--factors": ["-1", "two", "2 --method topic"],
        "--inference": ["guessing", "sampling --mixing probability", "sampling --method topic"],
        "--ensemble": ["0", str(HUGE)],
        "--max-iter": ["0", str(HUGE)],
        "--detection": ["other --method topic", "whitened"],
        "--projections": ["0", f"{HUGE} --method topic --detection projections"],
        "--separation-tol": ["x", "0 --method topic", "nan --method topic"],
        "--directions": ["other", "sphere"],
        "--people": [MISSING, "{few}", "{few} --method topic"],
        "--formula": ["age"],
        "--features": [MISSING, "{few}", "{few} --method topic"],
        "--engine": ["other", "dask"],
        "--scheduler": ["tcp://nowhere:1"],
        "--checkpoint": ["{out}", "{out} --resume", "{few}/x"],
        "--resume": [""],
        "--seed": ["-1"],
        "--ties": ["other"],
        "--column": ["user", "colour=red", "user=absent", "item=winner --column rating=loser"],
        "--items": [MISSING, "{few}"],
        "--offered": [MISSING],
    },
    "select": {
        "DATA": [MISSING],
        "--candidates": ["0", "x", "1-5000"],
        "--mixing": ["other"],
        "--seed": ["-1"],
        "--ties": ["other"],
        "--column": ["user", "colour=red", "user=absent"],
        "--items": [MISSING, "{few}"],
        "--offered": [MISSING],
    },
    "show": {
        "FILE": [MISSING],
        "--top": ["0"],
        "--user": ["anna"],
        "--committee": ["0", "2"],
        "--ties": ["other"],
        "--column": ["user", "colour=red", "user=absent"],
        "--items": [MISSING, "{few}"],
    },
    "explain": {
        "MODEL": [MISSING, "{model}"],
        "--people": [MISSING, "{few}"],
        "--attribute": ["absent --people {people}"],
        "--level": ["0 --people {people}", "nan --people {people}"],
    },
    "report": {
        "MODEL": [MISSING],
        "DATA": [MISSING],
        "--output": [f"{MISSING}/r.html", "report.csv"],
        "--seed": ["-1"],
        "--ties": ["other"],
        "--column": ["user", "colour=red", "user=absent"],
        "--items": [MISSING, "{few}"],
    },
    "predict": {
        "MODEL": [MISSING],
        "QUESTIONS": [MISSING, "{few}"],
        "--output": [f"{MISSING}/p.csv", "p.txt"],
        "--ratings": [MISSING, "{few}"],
        "--column": ["left", "colour=red", "user=absent"],
    },
    "evaluate": {
        "MODEL": [MISSING],
        "TEST": [MISSING],
        "--ties": ["other"],
        "--column": ["user", "colour=red", "user=absent"],
        "--items": [MISSING, "{few}"],
        "--offered": [MISSING],
    },
    "update": {
        "MODEL": [MISSING],
        "DATA": [MISSING],
        "--feedback": ["{few}"],
        "--output": [f"{MISSING}/m"],
        "--ties": ["other"],
        "--column": ["user", "colour=red", "user=absent"],
        "--items": [MISSING, "{few}"],
        "--offered": [MISSING],
    },
    "serve": {
        "MODEL": [MISSING],
        "--host": ["no host"],
        "--port": ["-1", "99999"],
        "--workers": ["0"],
        "--feedback": ["mysql://x", "x.db --no-feedback"],
        "--title": ["''"],
        "--question": ["''"],
        "--questions": ["0"],
        "--token-file": [MISSING],
        "--allow-frame": ["nonsense"],
        "--rate": ["-1", "nan"],
    },
    "simulate": {
        "--output": [f"{MISSING}/v.csv", "v.txt"],
        "--users": ["0", str(HUGE)],
        "--items": ["1", str(HUGE)],
        "--rankings": ["0", str(HUGE)],
        "--per-user": ["0", str(HUGE)],
        "--concentration": ["-1", "nan", "inf"],
        "--seed": ["-1"],
        "--truth": [f"{MISSING}/t.json", "{out}"],
    },
    "fetch": {
        "NAME": ["no-such-set"],
        "--output": [f"{MISSING}/v.csv", "v.txt"],
        "--seed": ["-1"],
    },
    "convert": {
        "DATA": [MISSING, "{few}", "{both}"],
        "--output": [f"{MISSING}/v.csv", "v.txt"],
        "--to": ["other"],
        "--pairs": ["other"],
        "--pairs-per-rating": ["0 --pairs partial", "nan --pairs partial"],
        "--ties": ["other"],
        "--seed": ["-1"],
        "--column": ["rating", "colour=red", "rating=absent"],
        "--items": [MISSING],
        "--offered": [MISSING],
    },
    "transform": {
        "MODEL": [MISSING],
        "DATA": [MISSING],
        "--output": [f"{MISSING}/w.csv", "w.txt"],
        "--engine": ["other", "dask"],
        "--scheduler": ["tcp://nowhere:1"],
        "--ties": ["other"],
        "--column": ["user", "colour=red", "user=absent"],
        "--items": [MISSING, "{few}"],
        "--offered": [MISSING],
    },
    "ingest": {
        "INPUTS": [MISSING, "{both}"],
        "--output": [f"{MISSING}/s"],
        "--memory": ["x", "1kB", "99999999TB"],
        "--ties": ["other"],
        "--offered": ["all", MISSING],
        "--column": ["user", "colour=red", "user=absent"],
    },
}  # fmt: skip
# what a command needs besides, in the order of its parameters
REST = {
    "demo": "", "fit": "{few} --rankings 2 --output {out}", "select": "{few}", "show": "{few}", "explain": "{model}",
    "report": "{model} {few}", "predict": "{model} {pairs}", "evaluate": "{model} {few}", "update": "{model} {few}",
    "serve": "{model}",
    "simulate": "--output {out}", "fetch": "sushi-a --output {out}", "convert": "{ratings} --output {out}",
    "transform": "{model} {few} --output {out}", "ingest": "{few} --output {out}",
}  # fmt: skip
ANY_TEXT = {("report", "--title"), ("serve", "--allow-origin"), ("fetch", "--folder")}  # nothing is wrong
CASES = [(command, name, wrong) for command, given in WRONG.items() for name, all_ in given.items() for wrong in all_]


def name_of(parameter):
    return parameter.opts[0] if parameter.param_type_name == "option" else parameter.name.upper()


def is_needed(parameter):
    return not getattr(parameter, "is_flag", False)


def public_arguments():
    """Return the names of arguments of public functions and methods, those that are no plain words."""
    found = set()
    for name in plurank.__all__:
        made = getattr(plurank, name)
        members = [made, *(vars(made).values() if inspect.isclass(made) else ())]
        for member in members:
            if callable(member):
                try:
                    found |= set(inspect.signature(member).parameters)
                except ValueError:  # of what is written in C
                    continue
    return {name for name in found if "_" in name.strip("_")}


ARGUMENTS = public_arguments()


@pytest.fixture
def files(few_votes, mixed_file, write, tmp_path):
    pairs = write("pairs.csv", "user,left,right", "0,1,2")
    ratings = write("ratings.csv", "user,item,rating", "a,x,1", "a,y,2")
    people = write("people.csv", "user,age", *(f"{user},{20 + user}" for user in range(20)))
    both = write("both.csv", "user,item,rating,rank", "a,x,1,2", "a,y,2,1")
    return {
        "few": few_votes, "model": mixed_file, "pairs": pairs, "ratings": ratings, "both": both,
        "people": people,
        "out": tmp_path / "out.csv",
    }  # fmt: skip


def complete(command, name, wrong, files):
    """Return a command line in which one parameter is wrong."""
    rest = REST[command].format(**files).split(" ") if REST[command] else []
    words = [word.strip("'") for word in wrong.format(**files).split(" ")] if wrong else []
    if wrong == "no host":
        words = [wrong]
    if command == "fit" and "--output" in rest and name != "--output":
        rest[rest.index("--output") + 1] = str(files["out"].with_suffix(".plurank"))
    if not name.startswith("--"):
        places = [name_of(p) for p in COMMANDS[command].params if p.param_type_name == "argument"]
        rest[places.index(name)] = words[0]
        return [command, *rest]
    if name in rest:  # once, and wrong
        at = rest.index(name)
        rest[at : at + 2] = []
    return [command, *rest, *([f"{name}={words[0]}", *words[1:]] if words else [name])]


def test_every_parameter_of_every_command_is_tried():
    assert set(WRONG) == set(COMMANDS)
    for command, made in COMMANDS.items():
        expected = {name_of(p) for p in made.params if is_needed(p)} - {name for c, name in ANY_TEXT if c == command}
        assert set(WRONG[command]) - {"--resume"} == expected, command


@pytest.mark.parametrize(("command", "name", "wrong"), CASES)
def test_a_wrong_value_is_told_in_options(run, files, command, name, wrong, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    lines = run(*complete(command, name, wrong, files), code=2).stderr.splitlines()
    text = "\n".join(line for line in lines if "is deprecated" not in line)  # which names the Python parameter to use
    text = re.sub(r"Comparisons\.\w+", "", text)  # named beside the command that does the same
    for file in files.values():
        text = text.replace(str(file), "").replace(file.name, "")
    assert not [word for word in re.findall(r"\w+", text) if word in ARGUMENTS], text
    assert not re.search(r"(?<!--column )\b\w+=['{\[(.]|\w=(True|False|None)\b|\w=[ .,]", text), text


@pytest.mark.parametrize("parameter", error_messages.OPTIONS)
def test_every_parameter_of_the_table_becomes_an_option_of_some_command(parameter):
    error = plurank.ParameterError(parameter=parameter, expected="right", got="'wrong'")
    option = error_messages.OPTIONS[parameter]
    assert error_messages.explain_error(error) == (f"Error: {option} must be right, got 'wrong'.", 2)
    assert any(option in p.opts for made in COMMANDS.values() for p in made.params)


# parameters that no command sets, though an option has the same name
PYTHON_ONLY = {"items", "method", "n_directions", "rankings"}


def named_parameters(tree):
    """Return the parameters that messages of a module name: of checks, of errors, and in sentences."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            continue
        if node.func.id == "Argument" or node.func.id.startswith("check_"):
            given = node.args[:1]
        else:
            given = [word.value for word in node.keywords if word.arg == "parameter"]
        yield from (word.value for word in given if isinstance(word, ast.Constant) and isinstance(word.value, str))


def test_the_table_has_every_parameter_that_messages_name_and_options_set():
    source = Path(plurank.__file__).parent
    found = {name for file in source.rglob("*.py") for name in named_parameters(ast.parse(file.read_text()))}
    options = {option for made in COMMANDS.values() for p in made.params for option in p.opts}
    assert len(found) > 30
    alike = {name for name in found if f"--{name.removeprefix('n_').replace('_', '-')}" in options}
    assert alike - set(error_messages.OPTIONS) <= PYTHON_ONLY


@pytest.mark.parametrize(
    ("hint", "text"),
    [
        (Argument("columns", ("user", "winner")), "--column user=NAME --column winner=NAME"),
        (Argument("detection", "whitened"), "--detection whitened"),
        (Argument("ensemble", 1), "--ensemble 1"),
        (Argument("resume", True), "--resume"),
        (Argument("max_iter"), "--max-iter"),
        (Argument("tol", 0.9), "tol=0.9"),
    ],
)
def test_arguments_in_sentences_become_options(hint, text):
    assert (
        error_messages.explain_error(plurank.DataError("it failed.", hint=("Try ", hint, ".")))[0]
        == f"Error: it failed. Try {text}."
    )


def test_errors_leave_ids_alone():
    error = plurank.DataError("row 3: an item is compared with itself ('n_rankings', ties='half'). Remove the row.")
    assert error_messages.explain_error(error)[0] == f"Error: {error}"
