"""Messages are data: fields, and text made of them."""

import pickle
import warnings

import pytest

import plurank
from plurank.exceptions import Argument, as_python
from plurank.validation import check_choice, check_whole

CLASSES = (
    plurank.DataError,
    plurank.ParameterError,
    plurank.NotIdentifiableError,
    plurank.NotFittedError,
    plurank.MissingExtraError,
    plurank.EngineError,
    plurank.ConvergenceWarning,
    plurank.SkippedWarning,
)
HINT = ("Use ", Argument("ties", "half"), ".")


@pytest.mark.parametrize("kind", CLASSES)
def test_every_error_and_warning_has_the_fields_and_a_text_made_of_them(kind):
    error = kind(parameter="n_rankings", expected="an integer >= 1", got="0", hint=HINT)
    assert (error.parameter, error.expected, error.got) == ("n_rankings", "an integer >= 1", "0")
    assert error.hint == "Use ties='half'."
    assert str(error) == "n_rankings must be an integer >= 1, got 0. Use ties='half'."
    assert error.format(lambda argument: argument.parameter.upper()) == (
        "N_RANKINGS must be an integer >= 1, got 0. Use TIES."
    )


@pytest.mark.parametrize("kind", CLASSES)
def test_a_plain_text_is_a_message(kind):
    error = kind("all went wrong.")
    assert (str(error), error.parameter, error.expected, error.got, error.hint) == ("all went wrong.", None, "", "", "")


@pytest.mark.parametrize("kind", [kind for kind in CLASSES if kind is not plurank.NotFittedError])
def test_fields_survive_pickling(kind):
    error = kind(parameter="ties", expected=("set, as in ", Argument("columns", ("user",))), got="None", hint=HINT)
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), again.hint) == (kind, str(error), error.hint)
    assert again.format(lambda _: "X") == error.format(lambda _: "X") == "X must be set, as in X, got None. Use X."


def test_a_missing_extra_keeps_the_name_of_the_package():
    error = plurank.MissingExtraError("figures need vl-convert.", name="vl_convert")
    assert (error.name, str(error)) == ("vl_convert", "figures need vl-convert.")


@pytest.mark.parametrize(
    ("argument", "text"),
    [
        (Argument("max_iter"), "max_iter"),
        (Argument("resume", True), "resume=True"),
        (Argument("ensemble", 1), "ensemble=1"),
        (Argument("ties", "half"), "ties='half'"),
        (Argument("columns", ("user", "winner")), "columns={'user': ..., 'winner': ...}"),
    ],
)
def test_arguments_are_written_as_python(argument, text):
    assert as_python(argument) == text


def test_a_file_is_named_once_before_the_message():
    error = plurank.DataError("no column for the user.", hint=HINT)
    named = error.within("votes.csv")
    assert str(named) == "votes.csv: no column for the user. Use ties='half'."
    assert named.format(lambda _: "X") == "votes.csv: no column for the user. Use X."
    assert named.within("votes.csv") is not error
    assert str(named.within("votes.csv")) == str(named)
    assert str(named.within("folder/votes.csv", "votes.csv")) == f"folder/{named}"
    assert str(error) == "no column for the user. Use ties='half'."


def test_a_file_is_named_before_fields_too():
    error = plurank.ParameterError(parameter="columns", expected="a dict", got="7").within("items.csv")
    assert str(error) == "items.csv: columns must be a dict, got 7."
    assert error.format(lambda _: "--column") == "items.csv: --column must be a dict, got 7."


def test_a_message_that_names_the_file_stays_as_it_is():
    error = plurank.DataError("line 3 of votes.csv has two cells.")
    assert error.within("votes.csv") is error


def test_another_sentence_may_follow():
    assert str(plurank.DataError("it failed.").advising("Try again.")) == "it failed. Try again."
    assert str(plurank.DataError("it failed.", hint=HINT).advising("Or not.")) == "it failed. Use ties='half'. Or not."


def test_a_warning_is_given_as_an_instance():
    with pytest.warns(plurank.ConvergenceWarning, match=r"^not converged\. Try a larger max_iter\.$"):
        warnings.warn(
            plurank.ConvergenceWarning("not converged.", hint=("Try a larger ", Argument("max_iter"), ".")),
            stacklevel=1,
        )


def test_validators_fill_the_fields():
    with pytest.raises(plurank.ParameterError) as caught:
        check_whole("n_rankings", 0, 1)
    error = caught.value
    assert (error.parameter, error.expected, error.got) == ("n_rankings", "an integer >= 1", "0")
    with pytest.raises(plurank.ParameterError) as caught:
        check_choice("ties", "x" * 500, plurank.choices.Ties)
    assert caught.value.expected == "'half' or 'drop'"
    assert len(caught.value.got) == 83
