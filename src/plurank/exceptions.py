"""Every error and warning class, by cause. A message says what was expected, what came, and what to do."""


class PlurankError(Exception):
    """The base of all errors that plurank raises on purpose."""


class DataError(PlurankError, ValueError):
    """The data, or a file that holds data or a model, is not what was expected."""


class ParameterError(PlurankError, ValueError):
    """An argument has a value that makes no sense."""


class NotIdentifiableError(PlurankError, ValueError):
    """The data cannot tell the requested number of rankings apart."""


class NotFittedError(PlurankError, ValueError, AttributeError):
    """A model was asked for something before it was fitted."""

    def __reduce__(self) -> tuple[type["NotFittedError"], tuple[str]]:
        return NotFittedError, (str(self),)  # one made to be scikit-learn's, too, has no name to be pickled by


class MissingExtraError(PlurankError, ImportError):
    """A package that only some features need is not installed."""


class EngineError(PlurankError, RuntimeError):
    """The cluster that work should run on cannot be reached, or was lost."""


class ConvergenceWarning(UserWarning):
    """An iteration stopped early; the estimate is kept."""


class SkippedWarning(UserWarning):
    """Some of the data could not be used and was left out, as asked for."""
