"""Models on disk: a zip of one JSON file and npy arrays. No pickle, so a model file cannot run code."""

import json
import os
import zipfile
from importlib.metadata import version
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plurank.data.encoding import Labels
from plurank.exceptions import DataError
from plurank.models.base import RankingModel
from plurank.models.topic_ranking import TopicRanking
from plurank.writing import write_beside

FORMAT, FORMAT_VERSION = "plurank-model", 1
CLASSES: dict[str, type[RankingModel]] = {"TopicRanking": TopicRanking}


def save(model: RankingModel, path: str | os.PathLike[str]) -> None:
    """Write beside the target and rename, so that the target is whole or untouched."""
    target = Path(path)
    content = _pack(model)
    if not target.absolute().parent.is_dir():
        raise DataError(f"{target}: there is no such folder to save in.")
    with write_beside(target) as beside:
        beside.write_bytes(content)


def load(path: str | os.PathLike[str]) -> RankingModel:
    """Read a model that ``save`` wrote; a damaged, foreign or newer file is refused with a sentence."""
    file = Path(path)
    if not file.is_file():
        raise DataError(f"{file}: there is no such file.")
    if not zipfile.is_zipfile(file):
        raise DataError(f"{file.name} is not a plurank model, or it is cut short: expected a file written by save().")
    try:
        with zipfile.ZipFile(file) as archive:
            return _unpack(archive, file.name)
    except (zipfile.BadZipFile, KeyError, ValueError, TypeError, EOFError, OSError, AttributeError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"{file.name} is damaged ({error}). Save the model again.") from None


def _pack(model: RankingModel) -> bytes:
    fitted = {name: value for name, value in vars(model).items() if name.endswith("_") or name == "_novel_items"}
    arrays = {
        name: value
        for name, value in fitted.items()
        if isinstance(value, np.ndarray) and name not in ("items_", "users_")
    }
    scalars = {name: value for name, value in fitted.items() if name not in arrays and name not in ("items_", "users_")}
    params = {name: value for name, value in model.get_params().items() if not isinstance(value, np.random.Generator)}
    description = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "plurank_version": version("plurank"),
        "class": type(model).__name__,
        "parameters": {name: _plain(value) for name, value in params.items()},
        "fitted": {name: _plain(value) for name, value in scalars.items()},
        "arrays": sorted(arrays),
        "items": _pack_labels(model.items_),
        "users": _pack_labels(model.users_),
    }
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("model.json", json.dumps(description, ensure_ascii=False), zipfile.ZIP_DEFLATED)
        for name, array in arrays.items():
            part = BytesIO()
            np.save(part, array, allow_pickle=False)
            archive.writestr(f"{name}.npy", part.getvalue())
    return buffer.getvalue()


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _pack_labels(labels: Labels) -> dict[str, Any]:
    values = labels.tolist()
    if not all(isinstance(value, (str, int, float)) for value in values):
        raise DataError("only ids that are text or numbers can be saved; use such ids, or pickle the model.")
    return {"dtype": labels.dtype.str, "values": values}


def _unpack_labels(packed: dict[str, Any]) -> Labels:
    dtype = np.dtype(packed["dtype"])
    if dtype.kind not in "iufO":
        raise ValueError(f"unexpected label type {dtype}")
    labels = np.empty(len(packed["values"]), dtype=dtype)
    labels[:] = packed["values"]
    return labels


def _unpack(archive: zipfile.ZipFile, name: str) -> RankingModel:
    if "model.json" not in archive.namelist():
        raise DataError(f"{name} is a zip file but not a plurank model: it has no model.json.")
    description = json.loads(archive.read("model.json"))
    if not isinstance(description, dict) or description.get("format") != FORMAT:
        raise DataError(f"{name} is not a plurank model: its format is not {FORMAT!r}.")
    if description["format_version"] > FORMAT_VERSION:
        raise DataError(
            f"{name} was saved by plurank {description.get('plurank_version')}, which is newer than this one "
            f"({version('plurank')}). Upgrade plurank to read it."
        )
    if description["class"] not in CLASSES:
        raise DataError(f"{name} holds a {description['class']!r}; this plurank knows {', '.join(CLASSES)}.")
    model = CLASSES[description["class"]](**description["parameters"])
    for key, value in description["fitted"].items():
        setattr(model, _fitted_name(key), value)
    for key in description["arrays"]:
        setattr(model, _fitted_name(key), _read_array(archive, f"{key}.npy"))
    model.items_, model.users_ = _unpack_labels(description["items"]), _unpack_labels(description["users"])
    _check_fitted(model)
    return model


def _fitted_name(name: str) -> str:
    """Only fitted attributes may be set from a file, never methods or private state."""
    if name.startswith("__") or hasattr(RankingModel, name) or not (name.endswith("_") or name == "_novel_items"):
        raise ValueError(f"unexpected attribute {name!r}")
    return name


def _read_array(archive: zipfile.ZipFile, name: str) -> NDArray[Any]:
    array: NDArray[Any] = np.load(BytesIO(archive.read(name)), allow_pickle=False)
    return array


def _check_fitted(model: RankingModel) -> None:
    """Check that the parts of a model fit together."""
    n_rankings, n_items = model.rankings_.shape
    rows = np.sort(model.rankings_, axis=1)
    if n_items != len(model.items_) or not (rows == np.arange(n_items)).all():
        raise ValueError("rankings and items do not fit")
    if model.user_weights_.shape != (len(model.users_), n_rankings) or model.mean_weights_.shape != (n_rankings,):
        raise ValueError("weights and users do not fit")
    if not (np.isfinite(model.user_weights_).all() and np.isfinite(model.mean_weights_).all()):
        raise ValueError("weights are not finite")
