"""plurank show."""

import json

import pytest

import plurank


def test_show_reads_out_what_is_in_a_data_file(run, votes):
    text = run("show", votes).stdout
    assert "users         800" in text
    assert "40,000" in text


def test_show_says_so_when_a_data_file_is_healthy(run, write):
    rows = [f"u{n},{a},{b}" for n in range(9) for a, b in (("x", "y"), ("y", "z"), ("z", "x"))]
    assert "No problems found" in run("show", write("votes.csv", "user,winner,loser", *rows)).stdout


def test_show_lists_the_problems_of_a_data_file(run, write):
    text = " ".join(run("show", write("votes.csv", "user,winner,loser", "a,x,y", "b,v,w")).stdout.split())
    assert "2 of 2 users made fewer than two comparisons" in text
    assert "in 2 separate groups" in text


def test_show_gives_a_data_files_report_as_json(run, votes):
    expected = plurank.read_comparisons(votes).diagnose().to_dict()
    assert json.loads(run("show", votes, "--json").stdout) == expected


def test_show_tells_a_model_by_its_content(run, model_file, tmp_path):
    other = tmp_path / "whatever.csv"
    other.write_bytes(model_file.read_bytes())
    assert "Ranking 1" in run("show", other).stdout


def test_show_prints_as_many_items_of_a_model_as_asked(run, model_file):
    def places(*args):
        return [line.split()[0] for line in run("show", model_file, *args).stdout.splitlines() if line.strip()][2:]

    assert places("--top", 2)[:4] != places("--top", 5)[:6]
    assert places("--top", 5)[1:6] == ["1", "2", "3", "4", "5"]


def test_show_gives_a_model_as_json(run, model_file, easy_model):
    found = json.loads(run("show", model_file, "--json").stdout)
    assert found["model"] == "TopicRanking"
    assert found["concentration"] == easy_model.concentration_
    assert found["flip_probability"] == easy_model.flip_probability_
    assert [ranking["ranking"] for ranking in found["rankings"]] == [1, 2, 3]
    counted = [ranking["intransitive_triples"] for ranking in found["rankings"]]
    assert counted == easy_model.intransitive_triples_.tolist()


def test_show_fits_a_narrow_terminal(run, model_file, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    text = run("show", model_file).stdout
    assert max(len(line) for line in text.splitlines()) <= 40
    for k in (1, 2, 3):
        assert f"Ranking {k}" in text


def test_show_prints_one_users_weights_and_favourites(run, model_file, easy_model):
    text = run("show", model_file, "--user", 7, "--top", 3).stdout
    assert "7 follows" in text
    assert text.count("Ranking") == 3
    best = easy_model.rank(7)["item"][0]
    assert f"1   {best} " in text


def test_show_gives_one_user_as_json(run, model_file, easy_model):
    found = json.loads(run("show", model_file, "--user", 7, "--top", 3, "--json").stdout)
    assert found["weights"] == easy_model.user_weights_[7].tolist()
    assert [row["item"] for row in found["items"]] == easy_model.rank(7)["item"].to_list()[:3]


def test_show_refuses_a_user_the_model_does_not_know(refuse, model_file):
    assert "does not know user 'bob'. It knows 800" in refuse("show", model_file, "--user", "bob")


def test_show_refuses_to_look_for_a_user_in_data(refuse, votes):
    assert "--user needs a model" in refuse("show", votes, "--user", "7")


@pytest.mark.parametrize("name", ["cut.plurank", "cut.bin"])
def test_show_says_that_a_model_is_cut_short(refuse, model_file, tmp_path, name):
    (tmp_path / name).write_bytes(model_file.read_bytes()[:2000])
    assert "cut short" in refuse("show", tmp_path / name)


def test_show_refuses_a_zip_that_is_no_model(refuse, tmp_path):
    import zipfile

    with zipfile.ZipFile(tmp_path / "other.zip", "w") as archive:
        archive.writestr("hello.txt", "hello")
    assert "not a plurank model" in refuse("show", tmp_path / "other.zip")


def test_show_sends_ratings_to_convert(refuse, write):
    assert "`plurank convert`" in refuse("show", write("ratings.csv", "userId,movieId,rating", "1,2,5", "1,3,4"))


def test_show_spells_out_control_characters(run, tmp_path):
    made = plurank.simulate(100, 4, 1, 20, random_state=0, items=["plain", "\x1b[31mred", "b", "c"])
    plurank.TopicRanking(1, random_state=0).fit(made.comparisons).save(tmp_path / "m.plurank")
    assert "\\x1b[31mred" in run("show", tmp_path / "m.plurank").stdout
