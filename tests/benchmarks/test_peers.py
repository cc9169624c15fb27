"""The match against peers: how data are cut, how predictions are scored and merged. No peer and no data needed."""

import argparse
import ast
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from benchmarks.peers import methods, prepare, run, score, table, worker
from benchmarks.peers.calibration import calibrate, fit_slope
from benchmarks.peers.case import read_about, read_answers, read_case
from benchmarks.peers.environments import PINS
from benchmarks.peers.methods.win_shares import win_shares
from benchmarks.peers.run import check_sizes, jobs_of, rows_of
from benchmarks.peers.sets import People, number, read_people

METHOD_FILES = Path(methods.__file__).parent


@pytest.fixture(scope="module")
def rated() -> People:
    rng = np.random.default_rng(0)
    users, items = (grid.ravel() for grid in np.meshgrid(np.arange(40), np.arange(12), indexing="ij"))
    return number(pl.DataFrame({"user": users, "item": items, "rating": rng.integers(1, 9, len(users))}))


@pytest.fixture(scope="module")
def compared() -> People:
    return read_people("simulated", None, most_users=60)


def keys(frame: pl.DataFrame, *columns: str) -> set[tuple[int, ...]]:
    return set(frame.select(columns).rows())


def unordered(frame: pl.DataFrame, first: str, second: str) -> set[tuple[int, ...]]:
    return {(user, min(a, b), max(a, b)) for user, a, b in frame.select("user", first, second).rows()}


def write(folder: Path, people: People, task: prepare.Task, most_pairs: int = 60) -> Path:
    prepare.prepare(folder, people, task, 0, most_pairs, {"set": "some"})
    return folder


def test_native_pairs_are_asked_about_as_pairs_and_rated_items_as_items(rated, compared):
    assert prepare.tasks_of(rated) == ("new items", "new users")
    assert prepare.tasks_of(compared) == ("new pairs", "new users")


def test_a_held_out_item_is_in_no_training_pair_or_rating_of_its_user(rated, tmp_path):
    case = read_case(write(tmp_path, rated, "new items"))
    asked = keys(case.questions, "user", "left") | keys(case.questions, "user", "right")
    known = keys(case.train.pairs, "user", "winner") | keys(case.train.pairs, "user", "loser")
    assert asked
    assert not asked & (known | keys(case.train.ratings, "user", "item"))


def test_answers_say_what_people_preferred(rated, tmp_path):
    case, answers = read_case(write(tmp_path, rated, "new items")), read_answers(tmp_path)
    stars = {(user, item): rating for user, item, rating in rated.ratings.rows()}
    for (user, left, right), left_preferred in zip(case.questions.rows(), answers, strict=True):
        assert left_preferred == (stars[user, left] > stars[user, right])
    assert 0.3 < answers.mean() < 0.7


def test_a_comparison_is_either_for_training_or_for_testing(compared, tmp_path):
    case = read_case(write(tmp_path, compared, "new pairs", most_pairs=1000))
    assert len(case.train.pairs) + len(case.questions) == len(compared.pairs)
    assert len(case.questions) / len(compared.pairs) == pytest.approx(0.2, abs=0.03)


def test_new_users_are_strangers_and_are_asked_before_they_are_predicted(rated, tmp_path):
    case = read_case(write(tmp_path, rated, "new users"))
    new = set(case.questions["user"])
    assert len(new) == 8
    assert not new & (set(case.train.pairs["user"]) | set(case.train.ratings["user"]))
    assert not unordered(case.asked, "winner", "loser") & unordered(case.questions, "left", "right")
    for given in case.given:
        assert (case.asked_first(given).group_by("user").len()["len"] == given).all()
    assert keys(case.asked_first(5), "user", "winner", "loser") < keys(case.asked_first(10), "user", "winner", "loser")


@pytest.mark.parametrize("task", ["new items", "new users"])
def test_validation_data_are_cut_from_training_data(rated, tmp_path, task):
    case, inner = read_case(write(tmp_path, rated, task)), read_case(tmp_path / "validation" / "0")
    assert keys(inner.train.ratings, "user", "item") < keys(case.train.ratings, "user", "item")
    asked = keys(inner.questions, "user", "left") | keys(inner.questions, "user", "right")
    assert asked <= keys(case.train.ratings, "user", "item")


def test_nobody_trains_on_more_pairs_than_allowed(rated, tmp_path):
    case = read_case(write(tmp_path, rated, "new items", most_pairs=7))
    assert case.train.pairs.group_by("user").len()["len"].max() == 7


def test_the_same_seed_asks_the_same(rated, tmp_path):
    first, second = (read_case(write(tmp_path / name, rated, "new users")) for name in "ab")
    assert first.questions.equals(second.questions)
    assert first.train.pairs.equals(second.train.pairs)


def test_methods_on_comparisons_see_no_stars(rated, tmp_path):
    folder = write(tmp_path, rated, "new items")
    assert read_case(folder, stars=True).train.ratings is not None
    assert read_case(folder, stars=False).train.ratings is None


def test_stars_of_a_ranking_are_places_among_the_items_left(tmp_path):
    rng = np.random.default_rng(0)
    ranks = np.concatenate([rng.permutation(12) + 1 for _ in range(40)])
    people = number(pl.DataFrame({"user": np.repeat(range(40), 12), "item": [*range(12)] * 40, "rank": ranks}))
    stars = read_case(write(tmp_path, people, "new items")).train.ratings
    for _, own in stars.group_by("user"):
        assert sorted(own["rating"]) == [*range(1, len(own) + 1)]
    best = stars.filter(pl.col("rating") == pl.col("rating").max().over("user"))
    least = (
        people.ratings.join(stars, on=["user", "item"]).group_by("user").agg(pl.col("item").sort_by("rating").last())
    )
    assert keys(best, "user", "item") == keys(least, "user", "item")


def test_the_slope_is_found_that_made_the_answers():
    rng = np.random.default_rng(0)
    odds = rng.standard_normal(50_000)
    answers = rng.random(50_000) < 1 / (1 + np.exp(-2.5 * odds))
    assert fit_slope(odds, answers) == pytest.approx(2.5, rel=0.05)  # standard error about 0.02


def test_odds_that_say_nothing_become_coins():
    rng = np.random.default_rng(0)
    odds, answers = rng.standard_normal(20_000) * 50, rng.random(20_000) < 0.5
    assert np.abs(calibrate(odds, fit_slope(odds, answers)) - 0.5).mean() < 0.02


def test_scores_of_a_small_example_are_as_by_hand():
    probabilities, answers = np.array([0.9, 0.9, 0.2, 0.5]), np.array([True, False, False, True])
    found = score.score(probabilities, answers)
    assert found["log_likelihood"] == pytest.approx(np.log([0.9, 0.1, 0.8, 0.5]).mean())
    assert found["accuracy"] == pytest.approx((1 + 0 + 1 + 0.5) / 4)
    assert found["calibration_error"] == pytest.approx((abs(1.8 - 1) + abs(0.8 - 1) + 0) / 4)


def test_probabilities_of_one_are_refused():
    with pytest.raises(ValueError, match="expected probabilities between 0 and 1"):
        score.score(np.array([1.0]), np.array([True]))


def sums(logs: list[float], seed: int = 0) -> pl.DataFrame:
    return pl.DataFrame({"user": range(len(logs)), "logs": logs, "n": [2] * len(logs), "seed": [seed] * len(logs)})


def test_paired_differences_are_per_question_and_their_interval_holds_them():
    ours, theirs = sums([-1.0, -1.0, -1.0, -1.0]), sums([-1.2, -1.4, -1.6, -1.8])
    mean, low, high = table.paired_difference(theirs, ours)
    assert mean == pytest.approx(-0.25)
    assert -0.4 <= low < mean < high < -0.1


def test_a_constant_difference_has_no_width():
    mean, low, high = table.paired_difference(sums([-1.5, -2.5]), sums([-1.0, -2.0]))
    assert (mean, low, high) == pytest.approx((-0.25, -0.25, -0.25))


def test_intervals_know_that_users_of_a_seed_have_something_in_common():
    ours = pl.concat([sums([0.0] * 50, seed) for seed in range(4)])
    theirs = pl.concat([sums([gap] * 50, seed) for seed, gap in enumerate((0.5, 1.0, 1.5, 2.0))])
    mean, low, high = table.paired_difference(theirs, ours)
    assert mean == pytest.approx(0.625)
    assert low < 0.45
    assert high > 0.8


def test_users_asked_with_some_seeds_only_count_as_often_as_they_were_asked():
    ours, theirs = sums([0.0, 0.0]), pl.concat([sums([0.4, 0.8], 0), sums([9.0], 1)])
    assert table.paired_difference(theirs, ours)[0] == pytest.approx((0.4 + 0.8) / 4)


def test_methods_that_share_no_case_have_no_difference():
    assert table.paired_difference(sums([-1.0], seed=0), sums([-1.0], seed=1)) == (None, None, None)


def case_of(*figures: tuple[str, str, float, float | None]) -> pl.DataFrame:
    rows = [(track, name, value, gap, gap and gap - 0.01, gap and gap + 0.01) for track, name, value, gap in figures]
    return pl.DataFrame(rows, ["track", "method", "log_likelihood", "difference", "low", "high"], orient="row")


@pytest.mark.parametrize(
    ("rival", "said"),
    [
        (-0.60, "first"),
        (-0.505, "first, but not beyond doubt"),
        (-0.495, "not first: choix_bt is ahead by 0.0050, within noise"),
        (-0.40, "not first: choix_bt is ahead by 0.1000"),
    ],
)
def test_the_table_says_who_is_first_and_whether_it_could_be_chance(rival, said):
    stars = ("stars", "cornac_mf", -0.1, 0.4)
    ours, theirs = ("comparisons", methods.OURS, -0.5, None), ("comparisons", "choix_bt", rival, rival + 0.5)
    assert table.verdict(case_of(stars, ours, theirs), "comparisons") == said


def test_a_rival_that_failed_on_hard_seeds_is_held_against_ours_on_the_others():
    ours, theirs = ("comparisons", methods.OURS, -0.5, None), ("comparisons", "choix_bt", -0.4, -0.1)
    assert table.verdict(case_of(ours, theirs), "comparisons") == "first"


def test_doubt_about_any_rival_is_doubt():
    ours, second = ("comparisons", methods.OURS, -0.5, None), ("comparisons", "choix_bt", -0.52, -0.02)
    third = ("comparisons", "evalica_bt", -0.53, -0.03)
    case = case_of(ours, second, third).with_columns(high=pl.Series([None, -0.01, 0.01]))
    assert table.verdict(case, "comparisons") == "first, but not beyond doubt"


def n_settings(tree: ast.Module) -> int:
    """Count the settings that a file lists, without importing it: its package may not be there."""
    for node in tree.body:
        names = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if any(isinstance(name, ast.Name) and name.id == "SETTINGS" for name in names):
            if isinstance(node.value, ast.Attribute):  # those of another method
                return n_settings(ast.parse((METHOD_FILES / f"{node.value.value.id}.py").read_text()))
            listed = node.value.generators[0].iter if isinstance(node.value, ast.ListComp) else node.value
            return len(listed.elts)
    return 0


@pytest.mark.parametrize("name", methods.METHODS)
def test_every_method_has_an_environment_and_a_file_with_at_most_five_settings(name):
    tree = ast.parse((METHOD_FILES / f"{name}.py").read_text())
    assert "fit" in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    assert 1 <= n_settings(tree) <= 5
    assert methods.METHODS[name].environment in {"plurank", *PINS}
    assert methods.METHODS[name].track in {"comparisons", "stars"}


def test_no_method_file_reads_answers_or_scores():
    for file in METHOD_FILES.glob("*.py"):
        assert "read_answers" not in file.read_text()
        assert "peers.score" not in file.read_text()


def test_methods_on_win_shares_see_what_won_and_lost():
    pairs = pl.DataFrame({"user": [0, 0, 0, 1], "winner": [1, 1, 2, 5], "loser": [2, 3, 3, 1]})
    shares = {(user, item): rating for user, item, rating in win_shares(pairs).rows()}
    assert shares == pytest.approx({(0, 1): 4 / 3, (0, 2): 0.0, (0, 3): -4 / 3, (1, 5): 1.0, (1, 1): -1.0})


def test_a_method_has_other_code_where_a_file_it_uses_has_changed(tmp_path, monkeypatch):
    for file in METHOD_FILES.glob("*.py"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    monkeypatch.setattr(methods, "__file__", str(tmp_path / "__init__.py"))
    before = {name: methods.code_of(name) for name in ("cornac_mf", "cornac_wins", "smurff_wins")}
    (tmp_path / "cornac_mf.py").write_text("other code")
    changed = {name for name, code in before.items() if methods.code_of(name) != code}
    assert changed == {"cornac_mf", "cornac_wins"}


def test_cases_of_another_match_are_refused(rated, tmp_path):
    folder = tmp_path / "case"
    prepare.prepare(folder, rated, "new items", 0, 60, {"set": "some", "most_users": 500})
    check_sizes(folder, argparse.Namespace(most_users=500, most_pairs=60))
    with pytest.raises(SystemExit, match="is of a match with --most-users 500, expected 100"):
        check_sizes(folder, argparse.Namespace(most_users=100, most_pairs=60))


def test_star_methods_are_left_out_where_there_are_no_stars_or_new_users(rated, compared, tmp_path):
    folders = [
        write(tmp_path / "a", rated, "new items"), write(tmp_path / "b", rated, "new users"),
        write(tmp_path / "c", compared, "new pairs"),
    ]  # fmt: skip
    assert list(jobs_of(folders, ["cornac_mf"])) == [("cornac_mf", folders[0])]
    assert len(list(jobs_of(folders, ["choix_bt"]))) == 3


def test_a_method_is_tuned_fitted_scored_and_merged(compared, tmp_path):
    folders = [write(tmp_path / "pairs", compared, "new pairs"), write(tmp_path / "users", compared, "new users")]
    for folder in folders:
        worker.compete("pair_frequency", folder, 1)
    rows = [row for folder in folders for row in rows_of("pair_frequency", folder)]
    assert [row["given"] for row in rows] == [0, 5, 10, 20]
    assert all(-0.69 < row["log_likelihood"] < -0.4 for row in rows)  # a coin has -0.693
    table.write_table(tmp_path / "table.md", folders, rows, "some command")
    assert "| comparisons | pair_frequency |" in (tmp_path / "table.md").read_text()
    assert read_about(folders[1])["given"] == [5, 10, 20]


def row_of(method: str, seed: int, value: float, code: str = "x") -> dict[str, object]:
    case = {"set": "cars 1", "task": "new pairs", "given": 0, "seed": seed, "method": method}
    sizes = {"most_pairs": 60, "n_questions": 10, "code": code}
    return {**case, **sizes, "track": "comparisons", "log_likelihood": value}


def test_rows_of_methods_that_have_not_changed_are_taken_over(tmp_path):
    same = methods.code_of("choix_bt")
    earlier = [row_of("choix_bt", 0, -0.5, same), row_of("choix_bt", 1, -0.5, "old"), row_of("evalica_bt", 0, -0.5)]
    earlier.append(row_of("choix_bt", 2, -0.5, same))  # more seeds than this time
    table_of = pl.DataFrame(earlier).with_columns(cores=pl.lit(2), python=pl.lit("3"), versions=pl.lit(""))
    table_of.write_csv(tmp_path / "earlier.csv")
    given = argparse.Namespace(sets=["cars 1"], most_pairs=60, seeds=2)
    found = list(run.earlier_rows([tmp_path / "earlier.csv"], [row_of("plurank_mixed", 0, -0.4)], given))
    assert [(row["method"], row["seed"]) for row in found] == [("choix_bt", 0)]
    assert not list(run.earlier_rows([tmp_path / "earlier.csv"], [row_of("choix_bt", 0, -0.6)], given))
    other = row_of("plurank_mixed", 0, -0.4) | {"n_questions": 11}
    with pytest.raises(SystemExit, match="other questions"):
        list(run.earlier_rows([tmp_path / "earlier.csv"], [other], given))


def test_the_best_of_ours_is_held_against_everybody_by_seeds():
    rows = [row_of("plurank_mixed", seed, -0.4) for seed in range(3)]
    rows += [row_of("choix_bt", seed, -0.45 - 0.01 * seed) for seed in range(2)]
    key = ("cars 1", "new pairs", 0)
    assert table.verdict_over_all(key, rows) == "first (plurank_mixed, 0.0550 before choix_bt)"
    rows += [row_of("smurff_wins", seed, -0.39) for seed in range(3)]
    assert table.verdict_over_all(key, rows).startswith("not first: smurff_wins is ahead of plurank_mixed by 0.0100")
    gap, low, high = table.difference_by_seed({0: -0.5, 1: -0.6, 2: -0.55}, dict.fromkeys(range(3), -0.5))
    assert gap == pytest.approx(-0.05)
    assert low < gap < high
