"""A fit gives the same, to the last bit, from memory, from a store, and on a cluster."""

import itertools
import sys
from functools import cache

import numpy as np
import polars as pl
import pytest

import plurank
from plurank import DataError, EngineError, ParameterError
from plurank.engine.blocks import (
    cut_users,
    group_blocks,
    number_groups,
    sum_tree,
)
from tests.contracts.equality import assert_same_model

MODELS = {
    "mixed": lambda: plurank.MixedRanking(3, mixing="probability", random_state=0),
    "blended": lambda: plurank.MixedRanking(2, mixing="utility", random_state=1),
    "an ensemble of blends": lambda: plurank.MixedRanking(
        2, mixing="utility", ensemble=2, concentration=1.0, score_scale=1.0, random_state=1
    ),
    "as if rated": lambda: plurank.MixedRanking(3, mixing="probability", from_ratings=True, random_state=0),
    "the paper's": lambda: plurank.TopicRanking(3, random_state=0),
    "as printed": lambda: plurank.TopicRanking(2, "printed", n_projections=100, random_state=0),
    "the paper's projections": lambda: plurank.TopicRanking(2, "projections", n_projections=100, random_state=0),
    "the paper's, prior by likelihood": lambda: plurank.TopicRanking(3, prior="likelihood", random_state=0),
}


@pytest.fixture(scope="session")
def fitted_in_memory(stored, weighted_store):
    """A model by its name, fitted in memory to what a store has; each is fitted once."""
    people = {"stored": stored[1], "weighted_store": weighted_store[1]}
    return cache(lambda name, which: MODELS[name]().fit(people[which]))


def assert_same_counts(here, there):
    """A store says how much there is, and not what is wrong with it."""
    known = {name: value for name, value in there.data_.items() if value is not None}
    assert known == {name: here.data_[name] for name in known}
    assert {"n_users", "n_items", "n_comparisons", "median_per_user"} <= known.keys()
    assert there.data_["problems"] is None


@pytest.mark.parametrize("which", ["stored", "weighted_store"])
@pytest.mark.parametrize("name", MODELS)
def test_a_store_is_fitted_as_memory_is(name, which, fitted_in_memory, request):
    store, _ = request.getfixturevalue(which)
    here, there = fitted_in_memory(name, which), MODELS[name]().fit(store)
    assert_same_model(here, there, apart_from=["data_"])
    assert_same_counts(here, there)


@pytest.mark.parametrize(
    ("name", "which"),
    [  # tests/long has every pair
        ("mixed", "weighted_store"),
        ("as if rated", "stored"),
        ("the paper's", "stored"),
        ("the paper's projections", "weighted_store"),
    ],
)
def test_a_cluster_fits_as_one_process_does(name, which, cluster, fitted_in_memory, request):
    fit_on_a_cluster(name, which, cluster, fitted_in_memory, request)


def fit_on_a_cluster(name, which, cluster, fitted_in_memory, request):
    store, _ = request.getfixturevalue(which)
    here = fitted_in_memory(name, which)
    there = MODELS[name]().fit(store, engine="dask", scheduler=cluster.scheduler_address)
    assert_same_model(here, there, apart_from=["data_"])
    assert_same_counts(here, there)


def test_scores_from_a_store_follow_features_as_in_memory(fitted_in_memory, stored, cluster):
    known = fitted_in_memory("blended", "stored")
    level = known.scores_.mean(axis=1) + 0.1 * np.arange(len(known.items_))
    items = pl.DataFrame({"item": known.items_.tolist(), "level": level})
    here = MODELS["blended"]().fit(stored[1], items=items)
    assert np.abs(here.item_coefficients_[1:]).max() > 0.0
    for options in ({}, {"engine": "dask", "scheduler": cluster.scheduler_address}):
        there = MODELS["blended"]().fit(stored[0], items=items, **options)
        assert_same_model(here, there, apart_from=["data_"])


def test_a_fit_leaves_nothing_beside_the_store(stored):
    store, _ = stored
    before = sorted(path.name for path in store.path.parent.iterdir())
    MODELS["mixed"]().fit(store)
    assert sorted(path.name for path in store.path.parent.iterdir()) == before


def test_models_weigh_and_score_stores_as_they_do_comparisons(stored, fitted_in_memory, tmp_path, cluster):
    store, comparisons = stored
    model = fitted_in_memory("mixed", "stored")
    np.testing.assert_array_equal(model.transform(store), model.transform(comparisons))
    assert model.score(store) == pytest.approx(model.score(comparisons), abs=1e-12)
    assert model.accuracy(store) == pytest.approx(model.accuracy(comparisons), abs=1e-12)
    for source, where in (
        (store, {}),
        (comparisons, {}),
        (store, {"engine": "dask", "scheduler": cluster.scheduler_address}),
    ):
        model.write_weights(source, tmp_path / "weights[1].parquet", **where)
        table = pl.read_parquet(tmp_path / "weights[1].parquet", glob=False)
        assert table["user"].to_list() == comparisons.users.tolist()
        assert table.columns[1:] == ["ranking 1", "ranking 2", "ranking 3"]
        np.testing.assert_array_equal(table.drop("user").to_numpy(), model.transform(comparisons))


def test_weights_are_not_written_where_there_is_no_folder(stored, fitted_in_memory, tmp_path):
    model = fitted_in_memory("mixed", "stored")
    with pytest.raises(DataError, match="there is no folder"):
        model.write_weights(stored[0], tmp_path / "nowhere" / "weights.parquet")


def test_the_number_of_rankings_is_chosen_as_in_memory(stored):
    store, comparisons = stored
    here, there = (
        plurank.select_rankings(data, candidates=[1, 2], mixing="probability", random_state=0)
        for data in (comparisons, store)
    )
    assert here.n_rankings == there.n_rankings
    assert here.table.equals(there.table)


def test_orders_are_refused_from_a_store_with_what_to_do(stored):
    with pytest.raises(ParameterError, match="to_comparisons"):
        plurank.MixedRanking(2, "mallows", mixing="probability").fit(stored[0])


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ({"engine": "spark"}, "engine must be 'local' or 'dask'"),
        ({"engine": "dask"}, "requires a store"),
        ({"scheduler": "tcp://127.0.0.1:1"}, "scheduler requires engine='dask'"),
        ({"checkpoint": "folder"}, "checkpoints require a store"),
        ({"resume": True}, "checkpoints require a store"),
    ],
)
def test_places_to_work_that_make_no_sense_are_refused(where, message, stored):
    with pytest.raises(ParameterError, match=message):
        plurank.MixedRanking(2, mixing="probability").fit(stored[1], **where)


def test_an_engine_whose_package_is_missing_says_what_to_install(stored, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    monkeypatch.delitem(sys.modules, "plurank.engine.dask", raising=False)
    with pytest.raises(EngineError, match=r"requires distributed: pip install 'plurank\[dask\]'"):
        plurank.MixedRanking(2, mixing="probability").fit(stored[0], engine="dask")


@pytest.mark.parametrize("n", [1, 2, 3, 5, 7, 8, 13, 64, 100])
@pytest.mark.parametrize("most", [1, 2, 4, 64])
def test_groups_of_blocks_add_up_to_the_same_bits(n, most, rng):
    parts = list(rng.standard_normal((n, 5)))
    whole = sum_tree(parts, np.add)
    groups = [parts[g[0] : g[-1]] for g in group_blocks(np.arange(n + 1), 0, most)]
    np.testing.assert_array_equal(sum_tree((sum_tree(group, np.add) for group in groups), np.add), whole)


def test_large_data_are_cut_into_more_blocks_and_all_users_are_in_one_group():
    offsets = np.arange(1_000_001) * 1000
    edges = cut_users(offsets, 0)
    assert np.diff(offsets[edges]).max() <= 1.01 * 2**22
    groups = number_groups(offsets, edges)
    assert max(np.diff(offsets[group.users[0] : group.users[1] + 1]).sum() for group in groups) <= 2**23
    assert len(number_groups(offsets[:1001], cut_users(offsets[:1001], 0))) == 1
    assert len(number_groups(offsets[:1001], cut_users(offsets[:1001], 0), least=16)) == 16
    assert groups[0].users[0] == 0
    assert groups[-1].users[1] == 1_000_000
    assert all(one.users[1] == other.users[0] for one, other in itertools.pairwise(groups))
