"""Files fetched once and kept: whole or not at all, and the same ever after.

Checksums: a published one is checked after the download and at every use. Where none is published, the file's
own is written beside it (``FILE.sha256``) once its content has been found right, and checked from then on.
"""

import hashlib
import logging
import os
from pathlib import Path
from typing import Any

from plurank import writing
from plurank.data.dataset_list import RemoteFile
from plurank.exceptions import DataError
from plurank.extras import extra

TIMEOUT = 60  # seconds without an answer


def find_cache(folder: str | os.PathLike[str] | None) -> Path:
    """Give the folder for data sets: the one given, PLURANK_DATA, or the user's cache; made if missing."""
    cache = Path(folder or os.environ.get("PLURANK_DATA") or _import_pooch().os_cache("plurank")).expanduser()
    try:
        cache.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"{cache}: no folder for data sets could be made there ({error.strerror}).") from None
    return cache


def download(file: RemoteFile, cache: Path, mirror: str | None) -> Path:
    """Fetch a file into the cache; it appears there whole, with the published checksum, or not at all."""
    pooch = _import_pooch()
    import requests

    url = f"{mirror.rstrip('/')}/{file.name}" if mirror else file.url
    by_hand = f"Or download it by hand from {url} and put it there as {cache / file.name}."
    downloader = pooch.HTTPDownloader(progressbar=False, timeout=TIMEOUT)
    pooch.get_logger().setLevel(logging.WARNING)
    try:
        pooch.retrieve(url, file.checksum, fname=file.name, path=cache, downloader=downloader)
    except requests.HTTPError as error:
        status = "with an error"
        if error.response is not None:
            status = str(error.response.status_code)
            error.response.close()
        raise DataError(f"{url} could not be fetched: its host answered {status}. Try later. {by_hand}") from None
    except requests.RequestException as error:
        reason = "no answer in time" if isinstance(error, requests.Timeout) else "no connection, or it broke"
        raise DataError(f"{url} could not be fetched: {reason}. Try again. {by_hand}") from None
    except ValueError:  # of pooch: another checksum
        wrong = f"what {url} gave does not have the published checksum ({file.checksum}), and was not kept"
        raise DataError(f"{wrong}. Try again. {by_hand}") from None
    except OSError as error:
        raise DataError(f"{cache / file.name} could not be written: {error.strerror or error}.") from None
    return cache / file.name


def _import_pooch() -> Any:
    with extra("datasets", "fetching a data set"):
        import pooch
    return pooch


def check_kept(file: RemoteFile, path: Path) -> None:
    """Refuse a kept file that is not what was published, or not what it was at first."""
    record = _record_of(path)
    expected = file.checksum or (f"sha256:{record.read_text().split()[0]}" if record.is_file() else None)
    if expected and hash_file(path, expected.partition(":")[0]) != expected.partition(":")[2]:
        what = "it does not have the published checksum" if file.checksum else "it has changed since it was fetched"
        raise DataError(f"{path}: {what}. Remove it (and {record.name}, if there is one) to fetch it again.")


def remember(file: RemoteFile, path: Path) -> None:
    """Write the checksum of a file without a published one beside it, as ``sha256sum`` would."""
    if file.checksum is None and not _record_of(path).is_file():
        with writing.write_beside(_record_of(path)) as beside:
            beside.write_text(f"{hash_file(path, 'sha256')}  {path.name}\n")


def hash_file(path: Path, algorithm: str) -> str:
    """Give the checksum of a file, in hexadecimal digits."""
    with path.open("rb") as opened:
        return hashlib.file_digest(opened, algorithm).hexdigest()


def _record_of(path: Path) -> Path:
    return path.with_name(path.name + ".sha256")
