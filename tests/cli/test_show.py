"""plurank show."""

import json

import pytest

import plurank
from plurank.cli.tables import favourites_table
from plurank.models.summary import describe_mixing
from plurank.text import percent


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
    assert "Next: plurank fit" in text, "what makes trouble does not forbid going on"


def test_show_says_how_many_comparisons_users_made(run, write):
    rows = ("user,winner,loser", "a,x,y", "b,y,x", "b,x,y")
    assert "per user      1 to 2 each, median 1.5" in run("show", write("votes.csv", *rows)).stdout
    assert "per user      1 each" in run("show", write("votes.csv", *rows[:3])).stdout


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


def test_show_prints_a_topic_rankings_novel_pairs_and_flips(run, model_file, easy_model):
    text = run("show", model_file).stdout
    better, worse = easy_model.novel_pairs_[0]
    for words in (f"{better} over {worse}", "Intransitive triples", "flip probability", "whitened embedding"):
        assert words in text


def test_show_says_where_rankings_without_uncertainty_differ_most(run, model_file, easy_model):
    found = json.loads(run("show", model_file, "--json").stdout)["most_divided"]
    places = [[order.tolist().index(entry["item"]) + 1 for order in easy_model.rankings_] for entry in found]
    assert [entry["places"] for entry in found] == places
    apart = [max(row) - min(row) for row in places]
    assert apart == sorted(apart, reverse=True)
    text = run("show", model_file).stdout
    lines = text.split("Where these orders differ most")[1].splitlines()
    assert [str(found[0]["item"]), *map(str, places[0])] in [line.split() for line in lines]
    assert "This kind of model has no uncertainty of places" in text


def test_show_tells_common_ground_camps_and_a_committee(run, mixed_file, mixed_model):
    found = json.loads(run("show", mixed_file, "--json").stdout)
    assert found["common_ground"] == mixed_model.common_ground().to_dicts()
    assert found["camps"] == mixed_model.camps().to_dicts()
    assert found["most_divided"] == []
    text = " ".join(run("show", mixed_file).stdout.split())
    assert f"{found['camps'][0]['people']} follow it most" in text
    liked = [row for row in found["common_ground"] if row["label"] == "liked by all camps"]
    assert ("Liked by all camps" in text) == bool(liked)
    committee = json.loads(run("show", mixed_file, "--committee", 2, "--json").stdout)
    assert committee["items"] == mixed_model.committee(2).items
    assert "A committee of 2 items" in run("show", mixed_file, "--committee", 2).stdout


def test_a_committee_needs_a_model_with_uncertainty(run, model_file, few_votes):
    assert "Fit a MixedRanking" in run("show", model_file, "--committee", 2, code=2).stderr
    assert (
        "--committee requires a model file, but few.csv is not one"
        in run("show", few_votes, "--committee", 2, code=2).stderr
    )


def test_show_prints_the_summary_of_the_library_as_json(run, model_file, easy_model, mixed_file, mixed_model):
    for file, model in ((model_file, easy_model), (mixed_file, mixed_model)):
        assert json.loads(run("show", file, "--json").stdout) == model.summary(items=True)
        user = str(model.users_[0])
        expected = model.user_summary(user, top=10)
        assert json.loads(run("show", file, "--user", user, "--json").stdout) == expected


def test_show_prints_how_well_held_out_comparisons_were_predicted(run, mixed_file, mixed_model):
    quality = mixed_model.quality_
    words = f"{percent(quality['accuracy'])} of {quality['n_test']:,} comparisons predicted correctly"
    assert words in " ".join(run("show", mixed_file).stdout.split())


def test_show_gives_a_mixed_ranking_as_json(run, mixed_file, mixed_model):
    found = json.loads(run("show", mixed_file, "--json").stdout)
    assert found["model"] == "MixedRanking"
    assert found["concentration"] == mixed_model.concentration_
    assert found["interval_level"] == 0.9
    for k, ranking in enumerate(found["rankings"]):
        board = mixed_model.leaderboard(k + 1)
        assert ranking["items"] == board["item"].to_list()
        for name in ("score", "lower", "upper"):
            assert ranking[name] == board[name].to_list()
        assert ranking["mean_weight"] == mixed_model.mean_weights_[k]


def test_show_prints_the_places_an_item_may_have(run, tmp_path):
    made = plurank.simulate(10, 6, 1, 4, random_state=0, items=list("abcdef"))
    model = plurank.MixedRanking(1, random_state=0).fit(made.comparisons)
    model.save(tmp_path / "m.plurank")
    best = model.leaderboard().row(0, named=True)
    assert best["upper"] > best["lower"], "so few comparisons leave no doubt?"
    text = run("show", tmp_path / "m.plurank").stdout
    assert f"1   {best['item']}  {best['lower']}-{best['upper']}" in text
    assert "its 90% interval of places" in text
    assert "one ranking for everybody" in text
    assert "differ most" not in text


def test_show_says_so_when_all_rankings_have_the_same_order(run, write, tmp_path):
    votes = write("votes.csv", "user,winner,loser", *(f"{user},{pair}" for user in "uv" for pair in ("x,y", "y,z")))
    model = plurank.MixedRanking(2, mixing="probability", random_state=0).fit(plurank.read_comparisons(votes))
    assert len({tuple(order) for order in model.rankings_.tolist()}) == 1
    model.save(tmp_path / "m.plurank")
    assert "All rankings have the same order: one may be enough." in run("show", tmp_path / "m.plurank").stdout


def test_show_says_in_words_how_much_people_mix_as_the_report_does(run, mixed_model, tmp_path):
    words = describe_mixing(mixed_model)
    mixed_model.save(tmp_path / "m.plurank")
    assert words in " ".join(run("show", tmp_path / "m.plurank").stdout.split())
    assert json.loads(run("show", tmp_path / "m.plurank", "--json").stdout)["mixing_in_words"] == words


@pytest.mark.parametrize("component", ["mallows", "strict"])
def test_show_reads_models_of_orders_too(run, few, tmp_path, component):
    model = plurank.MixedRanking(2, component, mixing="probability", random_state=0).fit(few.comparisons)
    model.save(tmp_path / "m.plurank")
    assert f"({component})" in run("show", tmp_path / "m.plurank").stdout
    found = json.loads(run("show", tmp_path / "m.plurank", "--json").stdout)
    if component == "strict":
        assert found["flip_probability"] == model.flip_probability_
    else:
        assert [ranking["dispersion"] for ranking in found["rankings"]] == model.dispersion_.tolist()


@pytest.mark.parametrize("width", [40, 50])
def test_show_fits_a_narrow_terminal(run, model_file, mixed_file, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    for file, n_rankings in ((model_file, 3), (mixed_file, 2)):
        text = run("show", file).stdout
        assert max(len(line) for line in text.splitlines()) <= width
        for k in range(1, n_rankings + 1):
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


def test_show_gives_one_users_intervals_where_the_model_has_them(run, mixed_file, mixed_model):
    found = json.loads(run("show", mixed_file, "--user", 7, "--top", 3, "--json").stdout)
    best = mixed_model.rank(7).head(3).to_dicts()
    assert found["items"] == [{**row, "text": str(row["item"])} for row in best]
    assert found["weight_intervals"] == [list(row) for row in mixed_model.weight_intervals(7)["lower", "upper"].rows()]
    text = run("show", mixed_file, "--user", 7).stdout
    lower, upper = found["weight_intervals"][0]
    assert f"{percent(lower)} to {percent(upper)}" in text
    assert "Intervals of weights and places have 90% probability." in text


@pytest.mark.parametrize(("lower", "upper", "places"), [(1, 3, "1-3"), (2, 2, "2")])
def test_a_place_that_is_certain_stands_alone(lower, upper, places):
    table = favourites_table([{"rank": 2, "item": "tea", "score": 0.5, "lower": lower, "upper": upper}])
    assert list(table.columns[-1].cells) == [places]


def test_show_refuses_a_user_the_model_does_not_know(refuse, model_file):
    assert "unknown user 'bob'. The model has 800 users" in refuse("show", model_file, "--user", "bob")


def test_show_refuses_to_look_for_a_user_in_data(refuse, votes):
    assert "--user requires a model file, but votes.csv is not one" in refuse("show", votes, "--user", "7")


@pytest.mark.parametrize("name", ["cut.plurank", "cut.bin"])
def test_show_says_that_a_model_is_cut_short(refuse, model_file, tmp_path, name):
    (tmp_path / name).write_bytes(model_file.read_bytes()[:2000])
    assert "cut short" in refuse("show", tmp_path / name)


def test_show_refuses_a_zip_that_is_no_model(refuse, tmp_path):
    import zipfile

    with zipfile.ZipFile(tmp_path / "other.zip", "w") as archive:
        archive.writestr("hello.txt", "hello")
    assert "not a plurank model" in refuse("show", tmp_path / "other.zip")


def test_show_describes_ratings_and_rankings_as_they_are(run, write):
    stars = write("ratings.csv", "userId,movieId,rating", "1,2,5", "1,3,4.5")
    shown = run("show", stars).stdout.split("\n")
    assert [line.split()[-1] for line in shown[:3]] == ["1", "2", "2"]
    assert "values    4.5 to 5" in "\n".join(shown)
    assert json.loads(run("show", stars, "--json").stdout)["n_comparisons"] == 2
    ballots = run("show", write("ballots.csv", "user,item,rank", "1,a,1", "1,b,2", "2,a,1", "2,b,2")).stdout
    assert "ranked items  4" in ballots
    assert "No problems found." in ballots


def test_show_spells_out_control_characters(run, tmp_path):
    made = plurank.simulate(100, 4, 1, 20, random_state=0, items=["plain", "\x1b[31mred", "b", "c"])
    plurank.TopicRanking(1, random_state=0).fit(made.comparisons).save(tmp_path / "m.plurank")
    assert "\\x1b[31mred" in run("show", tmp_path / "m.plurank").stdout


def test_show_spells_out_control_characters_in_a_models_settings_and_in_errors(run, refuse, tmp_path):
    made = plurank.simulate(100, 4, 1, 20, random_state=0, items=["a", "\u202eb", "c", "d"])
    model = plurank.TopicRanking(1, random_state=0).fit(made.comparisons)
    model.random_state = "\x1b]0;mine\x07"
    model.save(tmp_path / "m.plurank")
    shown = run("show", tmp_path / "m.plurank").stdout
    assert "\\x1b]0;mine" in shown
    assert "\\u202eb" in shown
    assert "\\x1b[2J" in refuse("show", tmp_path / "\x1b[2J.csv")


@pytest.mark.parametrize(
    "model",
    [
        plurank.SingleRanking(),
        plurank.ClusteredRanking(2, random_state=0),
        plurank.FJS(1),
        plurank.PairTopics(2, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_show_knows_the_baselines(run, few, tmp_path, model):
    model.fit(few.comparisons).save(tmp_path / "model.plurank")
    assert "Ranking 1" in run("show", tmp_path / "model.plurank").stdout
    user = str(few.comparisons.users[3])
    assert json.loads(run("show", tmp_path / "model.plurank", "--user", user, "--json").stdout)["user"] == user
