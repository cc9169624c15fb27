"""A model of ratings, votes or rankings is the same, to the last bit, from memory, from a store, and on a cluster."""

from functools import cache

import numpy as np
import polars as pl
import pytest

import plurank
from plurank.engine.blocks import group_units, sum_tree
from plurank.engine.local import open_engine
from plurank.kernels.threads import set_num_threads
from plurank.thurstone import blocks
from plurank.thurstone.exposure import Exposure
from plurank.thurstone.people import PeopleRegression
from plurank.thurstone.sampler import Chain, Observations, Shape
from tests.contracts.equality import assert_same_model
from tests.engine.conftest import start_cluster
from tests.engine.test_engines import assert_same_counts

FORMS = {"ratings": "rating", "votes": "rating", "ballots": "rank"}


def rate(form, n_users=90, n_items=12, per_user=6):
    """Values that users with one of two orders gave to some items."""
    rng = np.random.default_rng(0)
    scores = 2.0 * rng.standard_normal((n_items, 2))
    rows = []
    for user in range(n_users):
        items = rng.choice(n_items, per_user, replace=False)
        utilities = scores[items, user % 2] + rng.standard_normal(per_user)
        if form == "ballots":
            values = np.argsort(np.argsort(-utilities)) + 1
        else:
            values = np.clip(np.round(utilities), *((-1, 1) if form == "votes" else (-2, 2)))
        rows += [(f"u{user}", f"i{item}", float(value)) for item, value in zip(items, values, strict=True)]
    return pl.DataFrame(rows, schema=["user", "item", FORMS[form]], orient="row")


@pytest.fixture(scope="module")
def several_blocks():
    """Blocks of few observations, so that there are several; workers are told which users are in each."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "BLOCK_SIZE", 100)
        yield


@pytest.fixture(scope="module")
def rated(tmp_path_factory, several_blocks):
    """By form: a store, and the same in memory."""

    @cache
    def make(form):
        file = tmp_path_factory.mktemp(form) / "data.csv"
        rate(form).sample(fraction=1.0, shuffle=True, seed=0).write_csv(file)
        if form == "ballots":
            return plurank.ingest(file, file.with_suffix(".store"), offered="all"), plurank.Rankings.from_file(
                file, offered="all"
            )
        return plurank.ingest(file, file.with_suffix(".store")), plurank.Ratings.from_file(file)

    return make


def model():
    return plurank.MixedRanking(2, n_factors=2, max_iter=2, random_state=0)


@pytest.fixture(scope="module")
def in_memory(rated):
    return cache(lambda form: model().fit(rated(form)[1]))


pytestmark = pytest.mark.filterwarnings("ignore::plurank.ConvergenceWarning")  # chains are short


@pytest.mark.parametrize("form", FORMS)
def test_a_store_is_fitted_as_memory_is(form, rated, in_memory):
    there = model().fit(rated(form)[0])
    assert_same_model(in_memory(form), there, apart_from=["data_"])
    assert_same_counts(in_memory(form), there)


@pytest.mark.parametrize("form", ["ratings", "ballots"])
def test_a_cluster_fits_as_one_process_does(form, rated, in_memory, cluster):
    there = model().fit(rated(form)[0], engine="dask", scheduler=cluster.scheduler_address)
    assert_same_model(in_memory(form), there, apart_from=["data_"])


def sweep_with_covariates(source, engine="local", scheduler=None):
    """The draws of three sweeps of a chain that knows a covariate of every user."""
    rng = np.random.default_rng(3)
    people = {f"u{user}": user % 2 - 0.5 + 0.3 * rng.standard_normal() for user in range(90)}
    design = np.array([[people[user]] for user in source.users.tolist()])
    with open_engine(source, engine, scheduler) as runner:
        observations = Observations.of(source, runner)
        assert len(observations.blocks) > 3
        nothing = Exposure.none(source.n_items)
        chain = Chain(observations, Shape(2, 0), [0], nothing, people=PeopleRegression(design))
        chain.population = chain.population._replace(slopes=np.array([[1.0, -1.0]]))
        for _ in range(3):
            chain.sweep()
    order = np.argsort(source.users)
    return {"weights": chain.vectors[order], "items": chain.population.items, "slopes": chain.population.slopes}


def test_covariates_of_users_count_alike_in_memory_from_a_store_and_on_a_cluster(rated, cluster):
    store, said = rated("ratings")
    here = sweep_with_covariates(said)
    assert np.ptp(here["slopes"]) > 0.1
    for options in ({}, {"engine": "dask", "scheduler": cluster.scheduler_address}):
        there = sweep_with_covariates(store, **options)
        np.testing.assert_array_equal(here["weights"], there["weights"])
        np.testing.assert_array_equal(here["items"], there["items"])
        np.testing.assert_array_equal(here["slopes"], there["slopes"])


def test_a_store_with_covariates_is_fitted_as_memory_is(rated):
    store, said = rated("ratings")
    people = pl.DataFrame({"user": [f"u{user}" for user in range(90)], "side": ["left", "right"] * 45})
    here, there = (model().fit(source, people=people) for source in (said, store))
    assert_same_model(here, there, apart_from=["data_"])
    assert here.effects().equals(there.effects())


def test_a_store_with_features_is_fitted_as_memory_is(rated, cluster):
    store, said = rated("ratings")
    items = pl.DataFrame({"item": [f"i{item}" for item in range(13)], "size": np.arange(13.0)})
    here = model().fit(said, items=items)
    assert np.abs(here.draw_score_slopes_[:, 1:]).max() > 0.0
    here.add_items(items)
    for options in ({}, {"engine": "dask", "scheduler": cluster.scheduler_address}):
        there = model().fit(store, items=items, **options).add_items(items)
        assert_same_model(here, there, apart_from=["data_"])


def test_one_worker_fits_as_two_do(rated, in_memory):
    with start_cluster(n_workers=1, threads_per_worker=2) as one:
        there = model().fit(rated("ratings")[0], engine="dask", scheduler=one.scheduler_address)
    assert_same_model(in_memory("ratings"), there, apart_from=["data_"])


@pytest.mark.parametrize("n", [1, 3])
def test_any_number_of_threads_fits_the_same(n, rated, in_memory):
    expected = in_memory("ratings")
    set_num_threads(n)
    try:
        assert_same_model(expected, model().fit(rated("ratings")[0]), apart_from=["data_"])
    finally:
        set_num_threads(2)


def test_numbers_of_rankings_and_factors_are_chosen_as_in_memory(rated):
    here, there = (plurank.MixedRanking(max_iter=2, random_state=0).fit(each) for each in rated("votes")[::-1])
    assert_same_model(here, there, apart_from=["data_"])
    assert here.selection_ is not None


def test_weights_of_a_store_are_those_of_memory(rated, in_memory, tmp_path):
    store, whole = rated("ratings")
    fitted = in_memory("ratings")
    np.testing.assert_array_equal(fitted.transform(store), fitted.transform(whole))
    fitted.write_weights(store, tmp_path / "weights.parquet")
    table = pl.read_parquet(tmp_path / "weights.parquet")
    assert table["user"].to_list() == whole.users.tolist()
    np.testing.assert_array_equal(table.drop("user").to_numpy(), fitted.transform(whole))


def test_votes_of_several_groups_are_counted_as_those_of_one(rated, in_memory, monkeypatch):
    store, _ = rated("votes")
    monkeypatch.setattr("plurank.engine.blocks.GROUP_COMPARISONS", 1)
    monkeypatch.setattr("plurank.engine.blocks.PRIVATE_BYTES", 0)
    fitted = in_memory("votes")
    again = plurank.MixedRanking(2, n_factors=2, max_iter=2, random_state=0).fit(store)
    for name in ("user_votes_", "item_votes_", "item_people_", "camp_votes_", "dissenter_votes_"):
        np.testing.assert_array_equal(getattr(fitted, name), getattr(again, name), err_msg=name, strict=True)


@pytest.mark.parametrize("parameters", [{"mixing": "probability"}, {"component": "strict"}])
def test_comparisons_of_a_store_of_ratings_are_refused_with_what_to_do(parameters, rated):
    with pytest.raises(plurank.ParameterError, match=r"which a store of them does not hold.*to_comparisons"):
        plurank.MixedRanking(2, **parameters).fit(rated("ratings")[0])


def test_other_models_compare_what_a_store_of_ratings_holds(rated):
    store, whole = rated("ratings")
    for make in (plurank.SingleRanking, lambda: plurank.TopicRanking(2, random_state=0)):
        assert_same_model(make().fit(store), make().fit(whole))


@pytest.mark.parametrize("n", [1, 2, 3, 5, 7, 8, 13, 64, 100])
@pytest.mark.parametrize("least", [1, 2, 5, 8, 200])
def test_groups_of_units_add_up_to_the_same_bits(n, least, rng):
    parts = list(rng.standard_normal((n, 5)))
    groups = group_units(parts, least)
    assert len(groups) >= min(least, n)
    np.testing.assert_array_equal(
        sum_tree((sum_tree(group, np.add) for group in groups), np.add), sum_tree(parts, np.add)
    )
