"""Files that version 0.1.0 wrote are still read: models with the same predictions, a store with the same rows."""

import json
import shutil
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import plurank

FOLDER = Path(__file__).parent / "v0.1.0"
EXPECTED = json.loads((FOLDER / "expected.json").read_text())
QUESTIONS = pl.DataFrame(
    {
        "user": ["person 0", "person 5", "nobody"],
        "left": ["item 0", "item 1", "item 2"],
        "right": ["item 3", "item 4", "item 0"],
    }
)


@pytest.mark.parametrize("name", ["mixed", "topic", "single"])
def test_a_model_predicts_as_it_did(name):
    model = plurank.load(FOLDER / f"{name}.plurank")
    np.testing.assert_allclose(model.predict_proba(QUESTIONS), EXPECTED[name], rtol=1e-12)


def test_a_model_can_be_saved_again_and_has_its_parameters(tmp_path):
    model = plurank.load(FOLDER / "mixed.plurank")
    assert model.init == "items"
    model.save(tmp_path / "again.plurank")
    again = plurank.load(tmp_path / "again.plurank")
    np.testing.assert_array_equal(again.predict_proba(QUESTIONS), model.predict_proba(QUESTIONS))


def test_a_store_has_its_rows(tmp_path):
    shutil.copytree(FOLDER / "votes.store", tmp_path / "votes.store")
    rows = plurank.open_store(tmp_path / "votes.store").to_comparisons().to_frame().rows()
    assert rows == [tuple(row) for row in EXPECTED["store"]]
