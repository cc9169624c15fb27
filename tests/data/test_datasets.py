"""Public data sets, fetched from a host of our own that serves made-up files of the same formats."""

import http.server
import threading

import polars as pl
import pytest

import plurank
from plurank import datasets
from plurank.data import downloads
from tests.data.dataset_files import FILES, SIZES, made_up_entries


class Host(http.server.BaseHTTPRequestHandler):
    """Serves a dictionary of files; ``announced`` says another length than is sent."""

    def do_GET(self):
        name = self.path.rsplit("/", 1)[-1]
        self.server.asked.append(name)
        content = self.server.files.get(name)
        if content is None:
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(content) + self.server.missing))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *args):
        pass


@pytest.fixture
def host():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Host)
    server.files, server.asked, server.missing = dict(FILES), [], 0
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def fetch(host, tmp_path, monkeypatch):
    """Fetch from the made-up host into a folder of the test."""
    originals = tmp_path / "originals"
    originals.mkdir()
    for name, entry in made_up_entries(originals).items():
        monkeypatch.setitem(datasets.ENTRIES, name, entry)
    mirror = f"http://127.0.0.1:{host.server_address[1]}/sets/"
    return lambda name, **options: datasets.fetch(name, tmp_path / "cache", mirror=mirror, **options)


def kept(tmp_path):
    return sorted(path.name for path in (tmp_path / "cache").iterdir())


@pytest.mark.parametrize("name", SIZES)
def test_every_set_can_be_fetched(fetch, name):
    found = fetch(name)
    users, items, values = SIZES[name]
    assert found.comparisons.n_users == users
    assert found.comparisons.n_items == items
    assert len(found.values) == values
    assert found.values.columns[2] == found.kind[:-1].replace("ranking", "rank")
    assert set(found.values["item"]) <= set(found.titles["item"])
    assert found.licence
    assert found.citation


def test_the_list_has_every_set_with_its_licence():
    known = plurank.datasets.names()
    assert known["name"].to_list() == list(datasets.ENTRIES)
    assert not known["licence"].has_nulls()


def test_licence_and_citation_are_shown_at_the_first_download_only(fetch, capsys):
    fetch("movielens-100k")
    shown = capsys.readouterr().err
    assert "research use" in shown
    assert "Harper and" in shown
    fetch("movielens-100k")
    assert capsys.readouterr().err == ""


def test_a_set_is_downloaded_once(fetch, host):
    first, second = fetch("vtaiwan"), fetch("vtaiwan")
    assert len(host.asked) == 2  # its two files
    assert first.values.equals(second.values)


def test_sets_that_share_a_file_share_the_download(fetch, host):
    fetch("sushi-a")
    fetch("sushi-b")
    assert host.asked == ["sushi3-2016.zip"]


def test_orders_of_sushi_are_ranks_from_1(fetch):
    assert fetch("sushi-b").values.rows() == [(0, 4, 1), (0, 0, 2), (1, 0, 1), (1, 3, 2)]


def test_cuisines_are_named_and_unknown_ones_left_out(fetch):
    rows = fetch("food-world-cup").values.sort("user", "item").rows()
    assert rows == [(7, "Australia", 3), (7, "Netherlands", 5), (8, "Algeria", 1), (8, "Netherlands", 2)]


def test_items_can_be_called_by_titles_and_equal_titles_stay_apart(fetch):
    found = fetch("movielens-100k", titles=True)
    assert set(found.comparisons.items) == {"Amélie (2001) [10]", "Amélie (2001) [20]"}
    assert set(fetch("vtaiwan", titles=True).comparisons.items) == {"First", "Second, with a comma"}


def test_a_wrong_published_checksum_is_refused_and_nothing_kept(fetch, host, tmp_path):
    host.files["ml-1m.zip"] = FILES["ml-1m.zip"][:-1] + b"x"
    with pytest.raises(plurank.DataError, match=r"does not have the published checksum .*by hand"):
        fetch("movielens-1m")
    assert kept(tmp_path) == []


@pytest.mark.parametrize("content", [b"<html>please log in</html>", b"PK\x03\x04 cut", b""])
@pytest.mark.parametrize("name", ["sushi-a", "food-world-cup", "vtaiwan"])
def test_something_else_without_a_published_checksum_is_refused_and_not_kept(fetch, host, tmp_path, content, name):
    file = datasets.ENTRIES[name].files[0].name
    host.files[file] = content
    with pytest.raises(plurank.DataError, match="It was removed"):
        fetch(name)
    assert kept(tmp_path) == []


def test_other_values_are_refused_even_where_their_number_is_right(fetch, host, tmp_path):
    host.files["food-world-cup-data.csv"] = FILES["food-world-cup-data.csv"].replace(b"3,5", b"4,5")
    with pytest.raises(plurank.DataError, match="differ from those known"):
        fetch("food-world-cup")
    assert kept(tmp_path) == []


def test_a_missing_row_is_counted(fetch, host):
    host.files["food-world-cup-data.csv"] = FILES["food-world-cup-data.csv"].replace(b"7,Some,N/A,3,5,Male\n", b"")
    with pytest.raises(plurank.DataError, match="expected 4 ratings by 2 people of 3 items, found 2 by 1 of 2"):
        fetch("food-world-cup")


def test_a_download_that_ends_early_leaves_nothing(fetch, host, tmp_path):
    host.missing = 100
    with pytest.raises(plurank.DataError, match=r"could not be fetched: no connection, or it broke\. .*by hand"):
        fetch("sushi-a")
    assert kept(tmp_path) == []


def test_an_interrupted_download_leaves_nothing(fetch, tmp_path, monkeypatch):
    import requests

    def interrupted(self, *args, **options):
        yield b"the first bytes"
        self.close()
        raise KeyboardInterrupt

    monkeypatch.setattr(requests.Response, "iter_content", interrupted)
    with pytest.raises(KeyboardInterrupt):
        fetch("sushi-a")
    assert kept(tmp_path) == []


def test_a_file_that_is_gone_from_its_host_is_said_so_with_a_way_out(fetch, host, tmp_path):
    del host.files["ml-100k.zip"]
    with pytest.raises(plurank.DataError, match=r"answered 404\. .* by hand from http.*ml-100k.zip") as refused:
        fetch("movielens-100k")
    assert str(tmp_path / "cache" / "ml-100k.zip") in str(refused.value)


def test_no_network_is_said_so_with_a_way_out(fetch, host, tmp_path, monkeypatch):
    with pytest.raises(plurank.DataError, match="could not be fetched"):
        datasets.fetch("sushi-a", tmp_path / "cache", mirror="http://127.0.0.1:9")


def test_a_file_put_there_by_hand_is_taken(fetch, host, tmp_path):
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "sushi3-2016.zip").write_bytes(FILES["sushi3-2016.zip"])
    assert fetch("sushi-a").comparisons.n_users == 2
    assert host.asked == []


def test_a_kept_file_that_changed_is_refused(fetch, tmp_path):
    for name, file in (("movielens-1m", "ml-1m.zip"), ("vtaiwan", "vtaiwan-comments.csv")):
        fetch(name)
        with (tmp_path / "cache" / file).open("ab") as opened:
            opened.write(b"\n")
        with pytest.raises(plurank.DataError, match=rf"{file}: it .* Remove it"):
            fetch(name)


def test_the_checksum_of_the_first_download_is_kept_beside_it(fetch, tmp_path):
    fetch("sushi-a")
    text = (tmp_path / "cache" / "sushi3-2016.zip.sha256").read_text()
    assert text == f"{downloads.hash_file(tmp_path / 'cache' / 'sushi3-2016.zip', 'sha256')}  sushi3-2016.zip\n"


def test_the_folder_comes_from_the_environment(fetch, tmp_path, monkeypatch):
    monkeypatch.setenv("PLURANK_DATA", str(tmp_path / "mine"))
    assert downloads.find_cache(None) == tmp_path / "mine"
    assert (tmp_path / "mine").is_dir()


def test_a_folder_that_cannot_be_made_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(plurank.DataError, match="no folder for data sets"):
        datasets.fetch("sushi-a", tmp_path / "file" / "cache")


def test_an_unknown_name_is_answered_with_the_known_ones():
    with pytest.raises(plurank.ParameterError, match=r"'sushi'.*sushi-a, sushi-b"):
        plurank.datasets.fetch("sushi")


def test_a_digest_does_not_depend_on_the_order_of_rows():
    frame = pl.DataFrame({"user": [1, 2], "item": ["a", "b"], "rating": [3, 4]})
    assert datasets.digest_of(frame) == datasets.digest_of(frame.reverse())
    assert datasets.digest_of(frame) != datasets.digest_of(frame.with_columns(rating=pl.lit(3)))
