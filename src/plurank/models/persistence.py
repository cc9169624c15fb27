"""Models on disk: a zip of one JSON file and npy arrays. No pickle, so a model file cannot run code."""

import json
import os
import zipfile
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import plurank
from plurank.data.encoding import Labels, as_series, missing
from plurank.exceptions import DataError
from plurank.io import as_path, check_target, write_beside
from plurank.models.base import MODELS, RankingModel
from plurank.models.fields import RENAMED, Field, JsonField, plain, translate
from plurank.text import reason_of

FORMAT, FORMAT_VERSION = "plurank-model", 2  # 2: names of parameters and attributes changed
MOST_UNPACKED, FREE_BYTES = 100, 2**24  # times a file's size that its parts may have; a model's own have about 1
ID_TYPES = (np.dtype(np.int64), np.dtype(np.float64), np.dtype(object))
FITTED_TYPES: dict[str, Any] = {"f": np.float64, "i": np.int64}


def save(model: RankingModel, path: str | os.PathLike[str]) -> None:
    """Write beside the target and rename, so that the target is whole or untouched."""
    content = _pack(model)
    with write_beside(check_target(path)) as beside:
        beside.write_bytes(content)


def load(path: str | os.PathLike[str]) -> RankingModel:
    """Read a model that ``save`` wrote.

    Files contain no code, so that loading one cannot run any.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    RankingModel
        The fitted model, of the class that was saved.

    Raises
    ------
    DataError
        If there is no such file, or it is damaged, not a model, or of a newer version of plurank.

    Examples
    --------
    >>> import plurank
    >>> plurank.blank_model(["tea", "milk"]).save("drinks.plurank")
    >>> plurank.load("drinks.plurank")
    MixedRanking(concentration=1.0, from_ratings=False, mixing='probability',
                 n_rankings=1, random_state=0, score_scale=1.0)
    """
    file = as_path(path)
    if file.is_dir():
        raise DataError(f"{file} is a folder; expected a model's file.")
    if not file.is_file():
        raise DataError(f"{file}: there is no such file.")
    if not zipfile.is_zipfile(file):
        raise DataError(
            f"{file.name} is not a plurank model, or it is cut short: expected a file made by `plurank fit` or save()."
        )
    try:
        with zipfile.ZipFile(file) as archive:
            _refuse_bomb(archive, file)
            return _unpack(archive, file.name)
    except DataError:
        raise
    except Exception as error:  # a damaged zip, JSON or npy can raise nearly anything
        raise DataError(f"{file.name} is damaged ({reason_of(error)}). Save the model again.") from None


def _refuse_bomb(archive: zipfile.ZipFile, file: Path) -> None:
    """Raise an error for a small file that would fill the memory; no part has more bytes than the archive says."""
    size = sum(part.file_size for part in archive.infolist())
    if size > MOST_UNPACKED * file.stat().st_size + FREE_BYTES:
        raise DataError(f"{file.name} would unpack to {size:,} bytes, which no model of its size does. Do not use it.")


def _pack(model: RankingModel) -> bytes:
    arrays = {name: getattr(model, name) for name, field in model.fields.items() if field.shape}
    arrays = {name: array for name, array in arrays.items() if array is not None}
    values = {name: getattr(model, name) for name, field in model.fields.items() if not field.shape}
    params = {name: value for name, value in model.get_params().items() if not isinstance(value, np.random.Generator)}
    description = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "plurank_version": _own_version(),
        "class": type(model).__name__,
        "parameters": {name: plain(value) for name, value in params.items()},
        "fitted": {name: plain(value) for name, value in values.items()},
        "arrays": sorted(arrays),
        "items": _pack_labels(model.items_),
        "users": _pack_labels(model.users_),
        "feedback_batches": list(model.feedback_batches_),
    }
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("model.json", json.dumps(description, ensure_ascii=False), zipfile.ZIP_DEFLATED)
        for name, array in arrays.items():
            part = BytesIO()
            np.save(part, array, allow_pickle=False)
            archive.writestr(f"{name}.npy", part.getvalue())
    return buffer.getvalue()


def _own_version() -> str:
    from importlib.metadata import version  # slow to import, and most commands only read

    return version("plurank")


def _pack_labels(labels: Labels) -> dict[str, Any]:
    values = labels.tolist()
    if not all(isinstance(value, (str, int, float)) for value in values):
        raise DataError("only ids that are text or numbers can be saved; use such ids, or pickle the model.")
    return {"dtype": labels.dtype.str, "values": values}


def _unpack_labels(packed: dict[str, Any]) -> Labels:
    dtype, values = np.dtype(packed["dtype"]).newbyteorder("="), packed["values"]
    if dtype not in ID_TYPES or not isinstance(values, list):
        raise ValueError(f"unexpected ids of type {dtype}")
    if not all(isinstance(value, (str, int, float)) for value in values) or len(set(values)) < len(values):
        raise ValueError("ids repeat, or are neither text nor numbers")
    labels = np.empty(len(values), dtype=dtype)
    labels[:] = values
    try:
        series = as_series(labels, "ids")
    except DataError:
        raise ValueError("ids are text that holds half of a character") from None
    if labels.tolist() != values or missing(series).any():
        raise ValueError(f"ids are missing, or are not of type {dtype}")
    return labels


def _unpack_batches(packed: Any) -> tuple[str, ...]:
    if not isinstance(packed, list) or not all(isinstance(batch, str) for batch in packed):
        raise ValueError("batches of answers are not named by text")
    return tuple(packed)


def _unpack(archive: zipfile.ZipFile, name: str) -> RankingModel:
    model_class, description = _read_description(archive, name)
    model = model_class(**description["parameters"])
    model.items_, model.users_ = _unpack_labels(description["items"]), _unpack_labels(description["users"])
    model.feedback_batches_ = _unpack_batches(description.get("feedback_batches", []))  # older files have none
    later = {key: None for key, field in model.fields.items() if isinstance(field, JsonField)}  # than format 1 began
    values, names = {**later, **description["fitted"]}, [key for key, field in model.fields.items() if field.shape]
    optional = {key for key, field in model.fields.items() if isinstance(field, Field) and field.optional}
    files = {RENAMED.get(key, key): f"{key}.npy" for key in description["arrays"]}
    present = [RENAMED.get(key, key) for key in description["arrays"]]
    if values.keys() | names != model.fields.keys() or sorted({*present} | optional) != sorted(names):
        raise ValueError("parts are missing or do not belong here")
    if len({*present}) < len(present):
        raise ValueError("a part is listed twice")
    if sorted(archive.namelist()) != sorted(["model.json", *files.values()]):
        raise ValueError("the archive holds files that do not belong to a model")
    arrays = {key: _read_array(archive, files[key]) for key in names if key in present}
    fitted = {**dict.fromkeys(optional), **values, **arrays}
    sizes = {"K": len(arrays["mean_weights_"]), "Q": len(model.items_), "M": len(model.users_)}
    if sizes["K"] < 1:
        raise ValueError("there are no rankings")
    for key, field in model.fields.items():
        field.check(key, fitted[key], sizes)
        setattr(model, key, _as_fitted(fitted[key], field) if key in arrays else fitted[key])
    model.check_consistent()
    return model


def _read_description(archive: zipfile.ZipFile, name: str) -> tuple[type[RankingModel], dict[str, Any]]:
    if "model.json" not in archive.namelist():
        raise DataError(f"{name} is a zip file but not a plurank model: it has no model.json.")
    description = json.loads(archive.read("model.json"))
    if not isinstance(description, dict) or description.get("format") != FORMAT:
        raise DataError(f"{name} is not a plurank model: its format is not {FORMAT!r}.")
    if description["format_version"] > FORMAT_VERSION:
        newer = ascii(str(description.get("plurank_version")))[1:-1]  # whoever wrote it, it is for a terminal or a log
        raise DataError(
            f"{name} was saved by plurank {newer:.40}, which is newer than this one "
            f"({_own_version()}). Upgrade plurank to read it."
        )
    if description["format_version"] < FORMAT_VERSION:
        description |= {part: translate(description[part], warn=False) for part in ("parameters", "fitted")}
    found = find_class(description["class"])
    if found is None:
        raise DataError(f"{name} holds a {description['class']!r}, which this plurank does not know.")
    return found, description


def find_class(name: str) -> type[RankingModel] | None:
    """Return the class of models of this name, None where there is none."""
    if name in plurank.__all__:
        getattr(plurank, name)  # public classes are imported, and so registered, when they are asked for
    return MODELS.get(name)


def _read_array(archive: zipfile.ZipFile, name: str) -> NDArray[Any]:
    array: NDArray[Any] = np.load(BytesIO(archive.read(name)), allow_pickle=False)
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def _as_fitted(array: NDArray[Any], field: Field | JsonField) -> NDArray[Any]:
    """Return an array as a fit does, in type and in order: native functions take no other."""
    single = isinstance(field, Field) and field.single
    dtype = np.float32 if single else FITTED_TYPES.get(array.dtype.kind, array.dtype)
    return np.ascontiguousarray(array, dtype=dtype)
