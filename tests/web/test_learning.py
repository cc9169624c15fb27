"""A model learns from every answer once, wherever an update is stopped."""

import json
from dataclasses import replace

import pytest
from typer.testing import CliRunner

import plurank
from plurank.cli.program import app
from plurank.exceptions import DataError
from plurank.web.database import FeedbackStore, GivenAnswer
from plurank.web.learning import Lesson, learn
from tests.oracles.simulated_ratings import simulate_ratings


@pytest.fixture
def database(tmp_path):
    return tmp_path / "feedback.db"


@pytest.fixture
def give(database):
    """Return a function that stores answers by their numbers."""
    store = FeedbackStore(database, create=True)

    def give_answers(*numbers):
        store.add([GivenAnswer(f"id {n}", f"visitor {n % 3}", "tea", "cola") for n in numbers])

    yield give_answers
    store.close()


def update(*args, code=0):
    result = CliRunner().invoke(app, ["update", *map(str, args)], prog_name="plurank")
    assert result.exit_code == code, result.stdout + result.stderr
    assert "Traceback" not in result.stdout + result.stderr
    return result


def test_update_learns_what_the_library_would(give, model_file, database):
    give(1, 2, 3)
    expected = plurank.load(model_file).update(plurank.read_feedback(database))
    assert "Added 3 comparisons, with 3 new users and 0 new items." in update(model_file, "--feedback", database).stdout
    learned = plurank.load(model_file)
    assert (learned.scores_ == expected.scores_).all()
    assert len(learned.feedback_batches_) == 1


def test_every_answer_counts_once_and_later_ones_in_the_next_update(give, model_file, database):
    give(1, 2, 3)
    update(model_file, "--feedback", database)
    learned = model_file.read_bytes()
    assert "No new answers" in update(model_file, "--feedback", database).stdout
    assert json.loads(update(model_file, "--feedback", database, "--json").stdout)["n_comparisons"] == 0
    assert model_file.read_bytes() == learned
    with pytest.raises(DataError, match="no answers that are new to the model"):
        plurank.read_feedback(database, model=model_file)
    give(1, 4, 5)
    assert len(plurank.read_feedback(database, model=model_file)) == 2
    assert "Added 2 comparisons" in update(model_file, "--feedback", database).stdout
    assert len(plurank.read_feedback(database)) == 5


def test_a_crash_before_the_model_is_saved_loses_nothing(give, model_file, database, monkeypatch):
    give(1, 2, 3)
    before = model_file.read_bytes()

    def crash(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("os.replace", crash)
        update(model_file, "--feedback", database, code=2)
    assert model_file.read_bytes() == before
    give(4)
    assert len(plurank.read_feedback(database, model=model_file)) == 4
    assert "Added 4 comparisons" in update(model_file, "--feedback", database).stdout
    assert "No new answers" in update(model_file, "--feedback", database).stdout


def test_a_crash_after_the_model_is_saved_counts_nothing_twice(give, model_file, database, monkeypatch):
    give(1, 2, 3)

    def crash(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("plurank.cli.update._print_update", crash)
        update(model_file, "--feedback", database, code=130)
    learned = model_file.read_bytes()
    assert "No new answers" in update(model_file, "--feedback", database).stdout
    assert model_file.read_bytes() == learned


def test_answers_that_arrive_during_an_update_wait_for_the_next(give, model_file, database, monkeypatch):
    give(1, 2, 3)
    learn = plurank.MixedRanking.update

    def update_while_people_answer(self, *args, **options):
        give(4, 5)
        return learn(self, *args, **options)

    with monkeypatch.context() as patch:
        patch.setattr("plurank.MixedRanking.update", update_while_people_answer)
        assert "Added 3 comparisons" in update(model_file, "--feedback", database).stdout
    assert "Added 2 comparisons" in update(model_file, "--feedback", database).stdout


def test_an_old_copy_and_a_new_name_each_learn_what_they_miss(give, model_file, database, tmp_path):
    give(1, 2)
    update(model_file, "--feedback", database, "-o", tmp_path / "new.plurank")
    give(3)
    assert "Added 3 comparisons" in update(model_file, "--feedback", database).stdout
    assert "Added 1 comparison," in update(tmp_path / "new.plurank", "--feedback", database).stdout


def test_a_fresh_fit_has_learned_from_no_answers(give, model_file, database, drinkers):
    give(1)
    update(model_file, "--feedback", database)
    model = plurank.load(model_file)
    assert model.feedback_batches_
    assert model.fit(drinkers).feedback_batches_ == ()


def test_answers_count_in_full_for_a_model_of_ratings(drinkers, give, database):
    give(*range(12))
    answers = plurank.read_feedback(database)
    for rated in (True, None):
        model = plurank.MixedRanking(
            2,
            mixing="probability",
            init="items",
            concentration=1.0,
            score_scale=1.0,
            from_ratings=rated,
            random_state=0,
        )
        model.fit(replace(drinkers, rated=True))
        assert model.from_ratings_
        assert model.as_observed(answers) is answers


def test_exactly_one_of_input_and_feedback_is_expected(model_file, database, tmp_path):
    (tmp_path / "more.csv").write_text("user,winner,loser\na,tea,cola\n")
    assert "got neither" in update(model_file, code=2).stderr
    assert "got both" in update(model_file, tmp_path / "more.csv", "--feedback", database, code=2).stderr
    assert "no such file" in update(model_file, "--feedback", database, code=2).stderr
    assert not database.exists()


def test_a_model_of_ratings_learns_from_answers():
    truth = simulate_ratings(60, 6, 1)
    with pytest.warns(plurank.ConvergenceWarning):
        model = plurank.MixedRanking(2, max_iter=3, n_factors=0, random_state=0).fit(truth.frame)
    rows = [(f"visitor {n}", "i00", "i01") for n in range(5)]
    answers = replace(plurank.Comparisons.from_arrays(*zip(*rows, strict=True)), rated=False)
    learned = learn(model, Lesson(answers, ("batch",)))
    assert learned is model
    assert model.feedback_batches_ == ("batch",)
    assert model.users_[-5:].tolist() == [row[0] for row in rows]
    assert model.user_votes_[-5:].tolist() == [1] * 5  # an answer, not two items
