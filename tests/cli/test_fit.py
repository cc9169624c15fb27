"""plurank fit."""

import json
import warnings

import pytest

import plurank

TOPIC = ("--method", "topic")


def test_fit_saves_a_mixed_ranking_and_prints_it(run, few_votes, few, tmp_path):
    result = run("fit", few_votes, "-k", 2, "-o", tmp_path / "m.plurank")
    model = plurank.load(tmp_path / "m.plurank")
    assert isinstance(model, plurank.MixedRanking)
    assert plurank.ranking_error(model.rankings_, few.rankings) == pytest.approx(0, abs=1e-9)
    for words in ("Ranking 1", "Ranking 2", "follow it most", "on average", "bradley-terry", "m.plurank"):
        assert words in result.stdout


def test_fit_uses_the_papers_method_when_asked(run, votes, easy, tmp_path):
    result = run("fit", votes, "-k", 3, "-o", tmp_path / "m.plurank", *TOPIC)
    model = plurank.load(tmp_path / "m.plurank")
    assert isinstance(model, plurank.TopicRanking)
    assert plurank.ranking_error(model.rankings_, easy.rankings) == pytest.approx(0, abs=1e-9)
    for word in ("Ranking 1", "Ranking 3", "Novel pair", "flip probability", "whitened", "m.plurank"):
        assert word in result.stdout
    better, worse = model.novel_pairs_[0]
    assert f"{better} over {worse}" in result.stdout


def test_fit_gives_the_same_answer_every_time_by_default(run, few_votes, tmp_path):
    answers = []
    for name in ("a", "b"):
        run("fit", few_votes, "-k", 2, "-o", tmp_path / name)
        answers.append(plurank.load(tmp_path / name).user_weights_)
    assert (answers[0] == answers[1]).all()


@pytest.mark.parametrize("method", ["mixed", "topic"])
def test_fit_prints_json_alone_on_stdout(run, few_votes, tmp_path, method):
    args = ("-k", 2, "-o", tmp_path / "m.plurank", "--method", method, "--json")
    found = json.loads(run("fit", few_votes, *args).stdout)
    model = plurank.load(tmp_path / "m.plurank")
    assert found["output"] == str(tmp_path / "m.plurank")
    assert found["data"]["n_users"] == found["n_users"] == 150
    assert found["settings"]["n_rankings"] == 2
    assert [ranking["items"] for ranking in found["rankings"]] == model.items_[model.rankings_].tolist()
    assert [ranking["mean_weight"] for ranking in found["rankings"]] == model.mean_weights_.tolist()
    if method == "topic":
        assert [tuple(ranking["novel_pair"]) for ranking in found["rankings"]] == model.novel_pairs_


def test_fit_hands_on_every_option_of_the_papers_method(run, votes, tmp_path):
    args = ("--detection", "projections", "--projections", 77, "--separation-tol", 0.02, "--directions", "sphere")
    run("fit", votes, "-k", 2, "-o", tmp_path / "m", *TOPIC, *args, "--seed", 5)
    settings = plurank.load(tmp_path / "m").get_params()
    assert settings["detection"] == "projections"
    assert settings["n_projections"] == 77
    assert settings["separation_tol"] == 0.02
    assert settings["directions"] == "sphere"
    assert settings["random_state"] == 5


def test_fit_hands_on_every_option_of_the_mixed_method(run, few_votes, tmp_path):
    args = ("--component", "bradley-terry", "--mixing", "utility", "--ensemble", 2, "--max-iter", 300)
    result = run("fit", few_votes, "-k", 2, "-o", tmp_path / "m", *args, "--seed", 5)
    settings = plurank.load(tmp_path / "m").get_params()
    assert settings["component"] == "bradley-terry"
    assert settings["mixing"] == "utility"
    assert settings["ensemble"] == 2
    assert settings["max_iter"] == 300
    assert settings["random_state"] == 5
    assert "averages of 2 fits" in result.stdout


@pytest.mark.parametrize(
    "option",
    [("--projections", 10), ("--separation-tol", 0.1), ("--directions", "sphere"), ("--directions", "gaussian")],
)
def test_fit_says_which_options_do_nothing_when_whitened(run, few_votes, tmp_path, option):
    result = run("fit", few_votes, "-k", 2, "-o", tmp_path / "m", *TOPIC, *option)
    assert f"{option[0]} has no effect with --detection whitened" in result.stderr


@pytest.mark.parametrize(
    ("method", "args", "sentence"),
    [
        ("mixed", ("--detection", "whitened"), "--detection belongs to --method topic"),
        ("mixed", ("--projections", 9, "--separation-tol", 0.1), "--projections, --separation-tol belong to"),
        ("mixed", ("--directions", "gaussian"), "Use --method topic, or leave out --directions."),
        ("topic", ("--mixing", "probability"), "--mixing belongs to --method mixed"),
        ("topic", ("--component", "strict", "--ensemble", 1), "--component, --ensemble belong to --method mixed"),
        ("topic", ("--max-iter", 3), "--max-iter belongs to --method mixed"),
    ],
)
def test_fit_refuses_options_of_the_other_method(refuse, few_votes, tmp_path, method, args, sentence):
    message = refuse("fit", few_votes, "-k", 2, "-o", tmp_path / "m", "--method", method, *args)
    assert sentence in message


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (("--mixing", "utility"), "no scores to mix; expected --mixing probability, got --mixing utility."),
        (("--ensemble", 2), "no scores to average; expected --ensemble 1, got --ensemble 2."),
    ],
)
@pytest.mark.parametrize("n_rankings", [2, "auto"])
def test_fit_refuses_to_blend_orders_before_it_reads_data(run, few_votes, tmp_path, n_rankings, args, sentence):
    result = run("fit", few_votes, "-k", n_rankings, "-o", tmp_path / "m", "--component", "strict", *args, code=2)
    assert result.stderr == f"Error: --component strict has {sentence} Use --component bradley-terry for that.\n"
    assert not (tmp_path / "m").exists()


def test_unknown_choices_and_missing_options_are_explained(refuse, few_votes, tmp_path):
    message = refuse("fit", few_votes, "-k", 2, "-o", tmp_path / "m", "--mixing", "add")
    assert "Invalid value for '--mixing': 'add' is not one of 'auto', 'probability', 'utility'." in message
    example = "Example: plurank fit votes.csv -o model.plurank"
    assert f"Missing option '--output' / '-o'. {example}" in refuse("fit", few_votes)


def test_a_column_of_an_unknown_role_is_refused_with_the_roles(refuse, few_votes, tmp_path):
    message = refuse("fit", few_votes, "-k", 2, "-o", tmp_path / "m", "--column", "usr=user")
    assert "--column: unknown role 'usr'; roles are user, winner, loser," in message


def test_fit_says_how_to_go_on_when_it_stopped_early(run, few_votes, tmp_path, recwarn):
    args = ("-k", 2, "-o", tmp_path / "m", "--max-iter", 1)
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        result = run("fit", few_votes, *args)
    assert "Try a larger --max-iter." in result.stderr
    assert "not converged after 1 iteration" in result.stdout
    assert not recwarn.list


def test_fit_chooses_the_number_of_rankings_and_the_mixing_and_shows_the_candidates(run, few_votes, tmp_path):
    result = run("fit", few_votes, "-o", tmp_path / "m")
    model = plurank.load(tmp_path / "m")
    selection = model.selection_
    text = " ".join(result.stdout.split())
    assert f"* {' '.join(selection['answer'].split())}" in text
    assert text.count("±") >= 3 * len(selection["candidates"]) - 1
    assert (
        run("show", tmp_path / "m").stdout.split("Behind the best")[1:]
        == result.stdout.split("Saved as")[0].split("Behind the best")[1:]
    )
    found = json.loads(run("show", tmp_path / "m", "--json").stdout)
    assert found["selection"] == selection
    assert found["settings"]["n_rankings"] == found["settings"]["mixing"] == "auto"
    assert (found["n_rankings"], found["mixing"]) == (selection["n_rankings"], selection["mixing"])


@pytest.mark.parametrize(
    ("args", "mixings"),
    [
        (("-k", "auto", "--mixing", "utility"), {"utility"}),
        (("-k", "auto", "--component", "strict"), {"probability"}),
        (("-k", "2"), {"probability", "utility"}),
    ],
)
def test_fit_chooses_among_what_was_asked_for(run, few_votes, tmp_path, args, mixings):
    run("fit", few_votes, "-o", tmp_path / "m", *args)
    model = plurank.load(tmp_path / "m")
    assert {row["mixing"] for row in model.selection_["candidates"]} == mixings
    assert model.mixing_ in mixings
    assert str(model.n_rankings) == args[1]


@pytest.mark.parametrize("number", ["0", "-1", "two", "2.5", ""])
def test_fit_refuses_a_number_of_rankings_that_is_none(refuse, few_votes, tmp_path, number):
    assert "--rankings must be an integer >= 1 or auto, got" in refuse(
        "fit", few_votes, "-k", number, "-o", tmp_path / "m"
    )


def test_the_papers_method_does_not_choose_the_number_of_rankings(refuse, few_votes, tmp_path):
    for options in ((), ("-k", "auto")):
        message = refuse("fit", few_votes, "-o", tmp_path / "m", *TOPIC, *options)
        assert "--method topic requires a number of rankings, e.g. -k 3; auto is for --method mixed." in message


def test_fit_says_in_words_when_the_diagonal_has_gaps(run, tmp_path):
    pairs = [(i, j) for i in range(6) for j in range(i + 1, 6)]
    rows = [(u, *(pair if u % 2 else pair[::-1])) for u in range(40) for pair in pairs]  # no pair twice
    plurank.Comparisons.from_arrays(*zip(*rows, strict=True)).to_frame().write_csv(tmp_path / "once.csv")
    args = ("-k", 2, "-o", tmp_path / "m", *TOPIC, "--detection", "printed")
    text = " ".join(run("fit", tmp_path / "once.csv", *args).stdout.split())
    assert "diagonal of E is incomplete" in text
    assert "distances between whole rows" in text


def test_fit_warns_of_what_is_wrong_with_the_data_before_it_fits(run, write, tmp_path):
    lines = [f"u{n},{a},{b}" for n in range(30) for a, b in (("x", "y"), ("y", "z"), ("x", "z"))]
    file = write("votes.csv", "user,winner,loser", *lines, "lonely,x,y")
    complaint = run("fit", file, "-k", 1, "-o", tmp_path / "m").stderr
    assert "Warning: 1 of 31 users made fewer than two comparisons" in complaint
    assert "Warning: item 'x' was never beaten" in complaint
    assert complaint.index("Warning") < complaint.index("Fitting")


def test_fit_understands_named_columns_and_ties(run, write, tmp_path):
    lines = [
        f"u{n},{a},{b},{w}" for n in range(20) for a, b, w in (("x", "y", "x"), ("y", "z", "tie"), ("x", "z", "z"))
    ]
    file = write("votes.csv", "who,left,right,winner", *lines)
    for ties, n in (("half", 80), ("drop", 40)):
        args = ("-k", 1, "-o", tmp_path / "m", "--column", "user=who", "--ties", ties, "--json")
        assert json.loads(run("fit", file, *args).stdout)["data"]["n_comparisons"] == n


def test_ids_with_commas_quotes_emoji_and_markup_survive(run, tmp_path):
    import polars as pl

    items = ["a, b", 'say "hi"', "🍣 寿司", " spaced ", "[red]x[/red]", ":smile:", "two\nlines", "007"]
    made = plurank.simulate(200, 8, 2, 40, random_state=3, items=items, mean_weights=[0.5, 0.5])
    users = pl.concat_str(pl.lit('O"Brien, 👩‍👩‍👧 '), pl.col("user").cast(pl.String))
    made.comparisons.to_frame().with_columns(user=users).write_csv(tmp_path / "votes.csv")
    text = run("fit", tmp_path / "votes.csv", "-k", 2, "-o", tmp_path / "m.plurank").stdout
    for item in ("a, b", 'say "hi"', "🍣 寿司", "[red]x[/red]", ":smile:", "two\\nlines", "007"):
        assert item in text
    pairs = pl.DataFrame({"user": ['O"Brien, 👩‍👩‍👧 7'] * 8, "left": items, "right": items[1:] + items[:1]})
    pairs.write_csv(tmp_path / "pairs.csv")
    run("predict", tmp_path / "m.plurank", tmp_path / "pairs.csv", "-o", tmp_path / "out.csv")
    predicted = pl.read_csv(tmp_path / "out.csv", infer_schema=False)
    assert predicted.select("user", "left", "right").equals(pairs)
    assert json.loads(run("show", tmp_path / "m.plurank", "--user", 'O"Brien, 👩‍👩‍👧 7', "--json").stdout)["weights"]


def test_fit_survives_an_interrupt_after_saving_and_says_what_is_there(run, few_votes, tmp_path, monkeypatch):
    def interrupt(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr("plurank.cli.training._print_fit", interrupt)
    result = run("fit", few_votes, "-k", 1, "-o", tmp_path / "m.plurank", code=130)
    assert "m.plurank had already been written" in result.stderr
    plurank.load(tmp_path / "m.plurank")


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        ([], "empty"),
        (["user,winner,loser"], "there are no comparisons"),
        (["x,y,z", "1,2,3"], "no column for the user"),
        (["user,winner,loser", "a,x,y", "b,z,z"], "row 2: an item is compared with itself ('z')"),
        (["user,winner,loser", "a,x,y", ",z,y"], "row 2: user is missing"),
        (["user,winner,loser", "a,x,y", "b,,y"], "row 2: winner is missing"),
        (
            ["user,left,right,winner", "a,x,y,x", "b,x,y,Q"],
            "row 2: winner 'Q' is neither left ('x') nor right ('y')",
        ),
        (["comment-id,comment-body", "0,Buses"], "--items comments.csv"),
    ],
)
def test_fit_refuses_bad_data_with_a_sentence(refuse, write, tmp_path, lines, sentence):
    message = refuse("fit", write("votes.csv", *lines), "-k", 2, "-o", tmp_path / "m.plurank")
    assert message.startswith("Error: ")
    assert sentence in message


def test_fit_refuses_a_file_that_is_not_there(refuse, tmp_path):
    assert "there is no such file" in refuse("fit", tmp_path / "no.csv", "-k", 2, "-o", tmp_path / "m")


def test_the_papers_method_refuses_what_it_cannot_tell_apart(refuse, write, votes, tmp_path):
    assert "60 rankings were asked for" in refuse("fit", votes, "-k", 60, "-o", tmp_path / "m", *TOPIC)
    once = write("votes.csv", "user,winner,loser", "a,x,y", "b,y,x")
    assert "no user has two or more comparisons" in refuse("fit", once, "-k", 2, "-o", tmp_path / "m", *TOPIC)


def test_fit_refuses_a_folder_that_is_not_there_before_it_reads(refuse, tmp_path):
    message = refuse("fit", tmp_path / "no.csv", "-k", 2, "-o", tmp_path / "nowhere" / "m.plurank")
    assert "there is no folder" in message


def test_fit_does_not_write_a_model_where_a_table_is_meant(refuse, votes, tmp_path):
    (tmp_path / "later.csv").write_text("precious")
    told = "later.csv: a model is not a table. Use a name such as later.plurank."
    assert told in refuse("fit", votes, "-k", 2, "-o", tmp_path / "later.csv")
    assert (tmp_path / "later.csv").read_text() == "precious"


def test_fit_does_not_write_over_its_input_or_a_folder(refuse, votes, tmp_path):
    assert "also the input" in refuse("fit", votes, "-k", 2, "-o", votes)
    assert "is a folder. Use the name of a file." in refuse("fit", votes, "-k", 2, "-o", tmp_path)


@pytest.mark.parametrize("column", ["user", "=voter", "user=", "colour=red"])
def test_fit_refuses_a_column_option_it_cannot_read(refuse, votes, tmp_path, column):
    assert "--column" in refuse("fit", votes, "-k", 2, "-o", tmp_path / "m", "--column", column)


def test_fit_leaves_the_old_model_when_saving_fails(run, few_votes, tmp_path, monkeypatch):
    (tmp_path / "m").write_text("old")

    def fail(*args):
        raise PermissionError(13, "Permission denied", "m")

    monkeypatch.setattr("os.replace", fail)
    assert "Error: m: Permission denied" in run("fit", few_votes, "-k", 1, "-o", tmp_path / "m", code=2).stderr
    assert [path.name for path in tmp_path.iterdir()] == ["m"]
    assert (tmp_path / "m").read_text() == "old"
