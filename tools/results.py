"""CSV files of results: which of them a text names, and the values that a text may be about."""

import re
from functools import cache
from pathlib import Path

import polars as pl

FOLDERS = ("benchmarks/results", "tests/long/results")
NOT_RESULTS = {"cores", "python", "versions", "peer_versions", "code", "key", "row", "seed", "run"}
NAMED = re.compile(r"([\w/]*?)(\w+)\.(csv|md)\b")
COMMAND = re.compile(r"python\s+-m\s+((?:benchmarks|tests|docs|tools)(?:\.\w+)+)")
WRITTEN = re.compile(r'write_results\(\s*f?"([^"]+)"')
WORD = re.compile(r"[^\W\d_]+|\d[\d,]*(?:\.\d+)?")


class Results:
    """The results of a checkout, by the name of the file without folder and ending."""

    def __init__(self, root: Path):
        self.root = root
        paths = [path for folder in FOLDERS for path in sorted((root / folder).rglob("*.csv"))]
        self.paths = {path.stem: path for path in paths}
        if len(self.paths) < len(paths):
            raise ValueError(f"expected a name of its own for every file of results, got {[p.stem for p in paths]}")
        self.frames = {name: pl.read_csv(path, infer_schema_length=None) for name, path in self.paths.items()}
        self._named: dict[str, tuple[set[str], list[str]]] = {}
        self._selected: dict[tuple[str, frozenset[str]], pl.DataFrame] = {}
        self._values: dict[tuple[str, frozenset[str], tuple[str, ...]], list[float]] = {}

    def named_in(self, text: str) -> tuple[set[str], list[str]]:
        """Return the results that a text names, itself or by the commands that write them, and what does not exist."""
        if text not in self._named:
            self._named[text] = self._find_names(text)
        return self._named[text]

    def _find_names(self, text: str) -> tuple[set[str], list[str]]:
        """Search a text for what ``named_in`` returns."""
        found: set[str] = set()
        missing: list[str] = []
        for folder, name, ending in NAMED.findall(text):
            if name in self.paths and (ending == "csv" or folder.endswith("results/")):
                found.add(name)
            elif folder.endswith("results/"):
                missing.append(f"{folder}{name}.{ending}")
        for module in COMMAND.findall(text):
            path = (self.root / module.replace(".", "/")).with_suffix(".py")
            found |= self._written_by(path) if path.exists() else set()
            missing += [] if path.exists() else [f"python -m {module}"]
        return found, missing

    def _written_by(self, module: Path) -> set[str]:
        """Return the results whose names the source of a benchmark has: where it writes them, or as a file."""
        source = module.read_text()
        patterns = [re.sub(r"\\{.*?\\}", ".*", re.escape(name)) for name in WRITTEN.findall(source)]
        written = {n for n, p in self.paths.items() for s in patterns if re.fullmatch(s.rpartition("/")[2], n)}
        return written | {n for _, n, ending in NAMED.findall(source) if n in self.paths and ending == "csv"}

    def query(self, text: str) -> pl.DataFrame:
        """Return the answer to a query in SQL."""
        return pl.SQLContext(self.frames, eager=True).execute(text)

    def values(self, name: str, labels: str, head: str = "") -> list[float]:
        """Return the cells that a text may be about and what summarises them, in order.

        These are the cells of the rows that share most with the labels, in the columns whose name occurs in the heading
        (if none does, in all). Summaries are over all these rows, and over those that have all texts in common.
        """
        words = frozenset(words_of(labels))
        if (name, words) not in self._selected:
            self._selected[name, words] = _select(self.frames[name], words)
        frame = self._selected[name, words]
        measured = [c for c in frame.columns if frame[c].dtype.is_numeric() and c not in NOT_RESULTS]
        fitting = [c for c in measured if (set(words_of(c)) - {"n"}) <= set(words_of(head))]
        texts = [c for c in frame.columns if frame[c].dtype == pl.String and c not in NOT_RESULTS]
        key = (name, words, tuple(fitting))
        if key not in self._values:
            self._values[key] = _describe(frame.select(*texts, *(fitting or measured)), texts)
        return self._values[key]


@cache
def words_of(text: str) -> list[str]:
    """Return the words and numbers of a text, in lower case."""
    return [word.replace(",", "").lower() for word in WORD.findall(text)]


def _select(frame: pl.DataFrame, words: frozenset[str]) -> pl.DataFrame:
    """Return the rows that share most with some words: texts, which count more, and whole numbers."""
    score = pl.Series([0] * frame.height)
    for column in frame:
        if column.name not in NOT_RESULTS:
            said = _find_said(column, words)
            score += (10 if column.dtype == pl.String else 1) * pl.Series([value in said for value in column]).cast(int)
    return frame.filter(score == score.max())


def _find_said(column: pl.Series, words: frozenset[str]) -> set[object]:
    """Return the values of a column whose words are all said, without those that a longer one says as well."""
    said = {}
    for value in column.unique().drop_nulls():
        if isinstance(value, str) or float(value).is_integer():
            parts = frozenset(words_of(value if isinstance(value, str) else f"{value:.0f}"))
            if parts and parts <= words:
                said[value] = parts
    return {value for value, parts in said.items() if not any(parts < others for others in said.values())}


def _describe(frame: pl.DataFrame, texts: list[str]) -> list[float]:
    """Return the cells of numeric columns in order, and what summarises all rows and the rows with the same texts."""
    columns = pl.selectors.numeric()
    error = (columns.std() / columns.count().sqrt()).name.suffix(" error")
    summaries = [columns.mean().name.suffix(" mean"), columns.median().name.suffix(" median"), columns.sum(), error]
    parts = [frame, frame.select(*summaries, pl.len()), frame.group_by(texts or pl.lit(0)).agg(*summaries, pl.len())]
    values = (value for part in parts for column in part.select(columns) for value in column)
    return sorted({float(value) for value in values if value is not None})
