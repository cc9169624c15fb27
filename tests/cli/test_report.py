"""plurank report."""

import errno
import json

import pytest


def test_report_writes_a_page_and_says_so(run, mixed_file, tmp_path):
    told = run("report", mixed_file, "-o", tmp_path / "report.html").stdout
    assert "report.html" in told
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "predicted right" in page  # of what the fit held out
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


def test_report_measures_quality_with_the_comparisons(run, mixed_file, few_votes, tmp_path):
    target = tmp_path / "report.html"
    told = json.loads(run("report", mixed_file, few_votes, "-o", target, "--title", "Lunch", "--json").stdout)
    assert told["n_bytes"] == target.stat().st_size
    page = target.read_text(encoding="utf-8")
    assert "<h1>Lunch</h1>" in page
    assert "Predicting choices that were held out" in page


@pytest.mark.parametrize("target", ["nowhere/report.html", "."])
def test_report_is_refused_where_it_cannot_be_written(refuse, mixed_file, tmp_path, target):
    assert refuse("report", mixed_file, "-o", tmp_path / target).endswith(".")


def test_report_writes_nothing_but_pages(refuse, mixed_file, tmp_path):
    told = "report.pdf: expected a name ending in .html or .htm."
    assert told in refuse("report", mixed_file, "-o", tmp_path / "report.pdf")


def test_report_does_not_destroy_its_inputs(refuse, mixed_file, few_votes):
    before = mixed_file.read_bytes()
    assert "also the input" in refuse("report", mixed_file, few_votes, "-o", few_votes)
    assert "also the input" in refuse("report", mixed_file, "-o", mixed_file)
    assert mixed_file.read_bytes() == before


def test_report_refuses_what_is_no_model_or_no_data(refuse, mixed_file, few_votes, write, tmp_path):
    target = tmp_path / "report.html"
    assert "is not a plurank model" in refuse("report", few_votes, "-o", target)
    assert "no such file" in refuse("report", tmp_path / "missing.plurank", "-o", target)
    assert "no such file" in refuse("report", mixed_file, tmp_path / "missing.csv", "-o", target)
    bad = write("bad.csv", "user,winner,loser", "1,a,a")
    assert "row 1" in refuse("report", mixed_file, bad, "-o", target)


def test_a_report_that_was_stopped_leaves_nothing(run, mixed_file, tmp_path, monkeypatch):
    def stop(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("plurank.report.page._render", stop)
    assert "nothing was written" in run("report", mixed_file, "-o", tmp_path / "report.html", code=130).stderr
    assert not list(tmp_path.iterdir())


def test_a_full_disk_is_told_with_the_name_of_the_report(refuse, mixed_file, tmp_path, monkeypatch):
    def fail(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.fsync", fail)
    told = refuse("report", mixed_file, "-o", tmp_path / "report.html")
    assert told.endswith("report.html: No space left on device.")
    assert not list(tmp_path.iterdir())


def test_people_are_named_only_on_request(run, mixed_file, tmp_path):
    target = tmp_path / "report.html"
    run("report", mixed_file, "-o", target)
    assert "Who is typical" not in target.read_text(encoding="utf-8")
    assert "names nobody" in target.read_text(encoding="utf-8")
    run("report", mixed_file, "-o", target, "--with-people")
    assert "Who is typical" in target.read_text(encoding="utf-8")
