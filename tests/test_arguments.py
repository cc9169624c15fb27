"""Arguments of a wrong kind, given to whatever is public: a sentence, never what a library happens to say."""

import numpy as np
import pytest

import plurank
from plurank import MixedRanking, PlurankError

NO_NUMBERS = [
    None,
    10**400,
    float("nan"),
    "abc",
    b"abc",
    {"a": 1},
    len,
    1j,
    np.zeros((2, 2, 2)),
    object(),
    [[1], [1, 2]],
]
RANKINGS = np.array([[0, 1, 2], [2, 1, 0]])


@pytest.fixture(scope="module")
def comparisons():
    return plurank.simulate(30, 5, 2, 10, random_state=0).comparisons


@pytest.fixture(scope="module")
def model(comparisons):
    return MixedRanking(2, mixing="probability", concentration=1.0, score_scale=1.0, random_state=0).fit(comparisons)


@pytest.fixture(scope="module")
def person(model):
    return model.fold_in([(0, 1)])


@pytest.mark.parametrize("odd", NO_NUMBERS[1:])
def test_weights_to_rank_with_are_numbers(odd, model):
    with pytest.raises(PlurankError, match="weights must be"):
        model.rank(weights=odd)


@pytest.mark.parametrize("odd", [*NO_NUMBERS, 0, 1, -0.5, 90, True])
def test_a_level_is_a_share(odd, model, person):
    for ask in (person.weight_intervals, lambda level: model.weight_intervals(0, level)):
        with pytest.raises(PlurankError, match="level must be a number between 0 and 1, got"):
            ask(odd)


@pytest.mark.parametrize("odd", [None, 5, "ab", len, [7], [0, 1], [None]])
def test_a_person_is_asked_about_columns_of_known_items_of_one_length(odd, person):
    for sides in ((odd, [1]), ([1], odd)):
        with pytest.raises(PlurankError):
            person.predict(*sides)


@pytest.mark.parametrize("odd", [None, 5, "ab", len, [7]])
def test_what_is_skipped_are_pairs(odd, person):
    with pytest.raises(PlurankError, match="expected pairs of two items"):
        person.next_pairs(1, skip=odd)


@pytest.mark.parametrize("odd", NO_NUMBERS)
def test_rankings_to_compare_are_lists_of_items(odd):
    for measure in (plurank.ranking_error, plurank.align):
        for both in ((odd, RANKINGS), (RANKINGS, odd)):
            with pytest.raises(PlurankError, match="rankings must be"):
                measure(*both)
    with pytest.raises(PlurankError, match="rankings must be"):
        plurank.kendall_tau(odd, [0, 1])


@pytest.mark.parametrize("measure", [plurank.accuracy, plurank.log_likelihood])
@pytest.mark.parametrize("odd", NO_NUMBERS)
def test_probabilities_and_their_weights_are_numbers(odd, measure):
    with pytest.raises(PlurankError, match=r"probabilit(y|ies)"):
        measure(odd)
    if odd is not None:
        with pytest.raises(PlurankError, match="weights"):
            measure([0.5, 0.7], odd)
    for weights in ([1.0], [0.0, 0.0], [-1.0, 2.0]):
        with pytest.raises(PlurankError, match=r"expected 2 weights of at least 0, one for each probability"):
            measure([0.5, 0.7], weights)


@pytest.mark.parametrize("odd", NO_NUMBERS)
def test_a_model_is_one_of_ours_and_so_is_its_number_of_names(odd, model, comparisons, tmp_path):
    for use in (
        plurank.describe_rankings,
        lambda given: plurank.write_report(given, tmp_path / "report.html"),
        lambda given: plurank.held_out_quality(given, comparisons),
    ):
        with pytest.raises(PlurankError, match=r"model must be a (fitted )?model of plurank, got"):
            use(odd)
    with pytest.raises(PlurankError, match="n must be"):
        plurank.describe_rankings(model, odd)


@pytest.mark.parametrize("odd", [None, 5, len, 1j, object(), [5]])
def test_ways_to_mix_are_words(odd, comparisons):
    with pytest.raises(PlurankError, match="mixing must be"):
        plurank.select_rankings(comparisons, [1], odd)
