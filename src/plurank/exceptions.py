"""Every error and warning class, by cause. A message says what was expected, what was found, and how to fix it.

Messages are data: they mention parameters as :class:`Argument`, and whoever shows a message decides how these are
written. ``str(error)`` writes Python (``ties='half'``), the command line writes options (``--ties half``).
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from typing import Any, NamedTuple, Self


class Argument(NamedTuple):
    """A parameter as a message mentions it: ``max_iter``, ``ties='half'``, ``columns={'user': ...}``.

    ``value``: left out where the parameter alone is meant; a tuple holds the roles of columns.
    """

    parameter: str
    value: Any = ...


Words = str | tuple[str | Argument, ...]  # text, with parameters in it


def as_python(argument: Argument) -> str:
    """Return an argument as Python code writes it."""
    name, value = argument
    if value is ...:
        return name
    if isinstance(value, tuple):  # roles of columns whose names only the user knows
        return f"{name}={{{', '.join(f'{key!r}: ...' for key in value)}}}"
    return f"{name}={value!r}"


class Message:
    """What errors and warnings of plurank say, as data.

    Parameters
    ----------
    message : str or tuple of str and Argument, optional
        The statement. By default "<parameter> must be <expected>, got <got>."
    parameter : str, optional
        Name of the parameter concerned.
    expected : str or tuple of str and Argument, optional
        What the parameter must be.
    got : str, optional
        What was found, as shown: mostly a ``repr``.
    hint : str or tuple of str and Argument, optional
        How to fix it, in whole sentences.

    Attributes
    ----------
    parameter : str or None
        Name of the parameter concerned.
    expected, got, hint : str
        As above, with parameters written as in Python; empty where nothing was given.
    """

    def __init__(
        self,
        message: Words = "",
        *,
        parameter: str | None = None,
        expected: Words = "",
        got: str = "",
        hint: Words = "",
        **others: Any,
    ) -> None:
        self.parameter, self.got = parameter, got
        self._message, self._expected, self._hint = message, expected, hint
        super().__init__(self.format(as_python), **others)  # type: ignore[call-arg]

    @property
    def expected(self) -> str:
        """What the parameter must be."""
        return _write_all(self._expected, as_python)

    @property
    def hint(self) -> str:
        """How to fix it."""
        return _write_all(self._hint, as_python)

    def format(self, write: Callable[[Argument], str]) -> str:
        """Return the whole message, with its parameters as ``write`` gives them."""
        parts = (_write_all(self._statement(), write), _write_all(self._hint, write))
        return " ".join(part for part in parts if part)

    def within(self, name: str, known: str | None = None) -> Self:
        """Return a copy that begins with the name of a file, unless the statement names it already.

        ``known``: what the message may call the file; replaced where it begins with that, and put before it otherwise.
        """
        first, *rest = _parts(self._statement())
        if isinstance(first, str) and first.startswith(known or name):
            parts = (f"{name}{first.removeprefix(known or name)}", *rest)
        elif known is None and name in _write_all(self._statement(), as_python):
            return self
        else:
            parts = (f"{name}: ", first, *rest)
        return self._changed(_message=parts)

    def advising(self, hint: str) -> Self:
        """Return a copy with another sentence at the end."""
        return self._changed(_hint=(*_parts(self._hint), f" {hint}" if self._hint else hint))

    def _statement(self) -> Words:
        if self._message or self.parameter is None:
            return self._message
        got = f", got {self.got}." if self.got else "."
        return (Argument(self.parameter), " must be ", *_parts(self._expected), got)

    def _changed(self, **words: Words) -> Self:
        changed: Any = copy(self)
        vars(changed).update(words)
        changed.args = (changed.format(as_python),)
        return changed


def _parts(words: Words) -> tuple[str | Argument, ...]:
    return (words,) if isinstance(words, str) else words


def _write_all(words: Words, write: Callable[[Argument], str]) -> str:
    return "".join(part if isinstance(part, str) else write(part) for part in _parts(words))


class PlurankError(Message, Exception):
    """Base class of all errors that plurank raises on purpose."""


class DataError(PlurankError, ValueError):
    """The data, or a file of data or of a model, is not what was expected."""


class ParameterError(PlurankError, ValueError):
    """A parameter has an invalid value.

    Examples
    --------
    >>> import plurank
    >>> try:
    ...     plurank.simulate(n_users=0)
    ... except plurank.ParameterError as error:
    ...     print(error.parameter, "|", error.expected, "|", error.got)
    ...     print(error)
    n_users | an integer >= 1 | 0
    n_users must be an integer >= 1, got 0.
    """


class NotIdentifiableError(PlurankError, ValueError):
    """The data cannot tell the requested number of rankings apart."""


class NotFittedError(PlurankError, ValueError, AttributeError):
    """A model was used before it was fitted."""

    def __reduce__(self) -> tuple[type["NotFittedError"], tuple[str]]:
        return NotFittedError, (str(self),)  # one made to be scikit-learn's, too, has no name to be pickled by


class MissingExtraError(PlurankError, ImportError):
    """A package that only some features need is not installed."""


class EngineError(PlurankError, RuntimeError):
    """The cluster cannot be reached, or was lost."""


class ConvergenceWarning(Message, UserWarning):
    """An iteration stopped early; the estimate is kept."""


class SkippedWarning(Message, UserWarning):
    """Some of the data could not be used and was left out, as requested."""


@contextmanager
def extra(name: str, feature: str) -> Iterator[None]:
    """Raise a MissingExtraError where what is imported within is not installed; ``name``: the extra that has it."""
    try:
        yield
    except ModuleNotFoundError as error:
        missing = str(error.name)
        if missing.partition(".")[0] == "plurank":
            raise
        raise MissingExtraError(f"{feature} needs {missing}: pip install 'plurank[{name}]'.", name=missing) from None
