"""plurank update."""

import json

import pytest

import plurank

MORE = ("user,winner,loser", "7,1,2", "7,1,3", "newcomer,2,1", "newcomer,2,sushi", "7,sushi,1")


@pytest.fixture
def model(mixed_file, tmp_path):
    """A model that a test may change."""
    file = tmp_path / "model.plurank"
    file.write_bytes(mixed_file.read_bytes())
    return file


def test_update_does_what_the_library_does(run, write, model, tmp_path):
    expected = plurank.load(model).update(plurank.read_comparisons(write("more.csv", *MORE)))
    before = model.read_bytes()
    run("update", model, tmp_path / "more.csv", "-o", tmp_path / "new.plurank")
    updated = plurank.load(tmp_path / "new.plurank")
    assert (updated.scores_ == expected.scores_).all()
    assert (updated.user_weights_ == expected.user_weights_).all()
    assert model.read_bytes() == before


def test_update_replaces_the_model_and_says_what_is_new(run, write, model):
    result = run("update", model, write("more.csv", *MORE))
    text = result.stdout
    assert "Warning" not in result.stderr, "what is missing in a few new comparisons, the model knows from earlier ones"
    assert "Added 5 comparisons, with 1 new user and 1 new item." in text
    updated = plurank.load(model)
    assert "newcomer" in updated.users_
    assert "sushi" in updated.items_
    assert "newcomer follows" in run("show", model, "--user", "newcomer").stdout


def test_update_prints_json_alone_on_stdout(run, write, model):
    found = json.loads(run("update", model, write("more.csv", *MORE), "--json").stdout)
    assert found["output"] == str(model)
    assert (found["n_comparisons"], found["n_new_users"], found["n_new_items"]) == (5, 1, 1)
    assert len(found["rankings"]) == 2


def test_update_refuses_models_that_do_not_remember(refuse, run, write, few, model_file, tmp_path):
    more = write("more.csv", *MORE)
    assert "cannot be updated. Fit again with all comparisons." in refuse("update", model_file, more)
    strict = plurank.MixedRanking(1, "strict", random_state=0).fit(few.comparisons)
    strict.save(tmp_path / "strict.plurank")
    assert "a model of component 'strict' cannot be updated" in refuse("update", tmp_path / "strict.plurank", more)


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        ([], "more.csv is empty"),
        (["user,winner,loser", "7,1,1"], "row 1: an item is compared with itself"),
        (["comment-id,comment-body", "0,Buses"], "--items comments.csv"),
    ],
)
def test_update_refuses_bad_data_and_leaves_the_model(refuse, write, model, lines, sentence):
    before = model.read_bytes()
    assert sentence in refuse("update", model, write("more.csv", *lines))
    assert model.read_bytes() == before


def test_update_refuses_what_is_no_model_and_does_not_write_over_its_input(refuse, write, model, few_votes):
    more = write("more.csv", *MORE)
    assert "not a plurank model" in refuse("update", few_votes, more)
    assert "also the input" in refuse("update", model, more, "-o", more)
    assert "there is no such file" in refuse("update", model.parent / "no.plurank", more)


def test_update_leaves_the_old_model_when_saving_fails(run, write, model, monkeypatch):
    more, before = write("more.csv", *MORE), model.read_bytes()

    def fail(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", fail)
    assert "No space left on device" in run("update", model, more, code=2).stderr
    assert model.read_bytes() == before
    assert sorted(path.name for path in model.parent.iterdir()) == ["model.plurank", "more.csv"]


@pytest.mark.filterwarnings("always::plurank.ConvergenceWarning")
def test_update_warns_where_rankings_cannot_be_told_apart(run, write, model):
    alike = plurank.load(model)
    alike.scores_ = alike.scores_[:, :1].repeat(2, axis=1)
    alike.rankings_ = alike.rankings_[:1].repeat(2, axis=0)
    alike.save(model)
    assert "cannot tell them apart" in " ".join(run("update", model, write("more.csv", *MORE)).stderr.split())
