"""Matrix factorisation of stars by well-kept libraries: PMF of cornac and BPMF of smurff, for Table 2 and Figure 3."""

import tempfile
from contextlib import redirect_stderr
from io import StringIO
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.sparse import coo_matrix
from scipy.special import ndtr

from plurank.inference.ordinal import level_likelihoods

Floats = NDArray[np.float64]
PRECISION = 2.0  # of a star's noise, as the authors of BPMF have it


def _number(train: pl.DataFrame, probe: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Number users and items of both frames from 0."""
    both = pl.concat([train, probe])
    for name in ("user", "item"):
        labels = both[name].unique().sort()
        codes = pl.DataFrame({name: labels, f"{name}_code": np.arange(len(labels))})
        train, probe = (frame.join(codes, on=name, how="left", maintain_order="left") for frame in (train, probe))
    return train, probe


def _sparse(frame: pl.DataFrame, shape: tuple[int, int], mean: float) -> coo_matrix:
    values = frame["rating"].to_numpy().astype(float) - mean
    return coo_matrix((values, (frame["user_code"].to_numpy(), frame["item_code"].to_numpy())), shape=shape)


def predict_bpmf(train: pl.DataFrame, probe: pl.DataFrame, k: int, burn_in: int, samples: int) -> Floats:
    """Predict the probe's stars by the mean over samples of the posterior, (n,)."""
    import smurff  # its own BPMF session has a noise of precision 5, with which BPMF overfits

    train, probe = _number(train, probe)
    both = pl.concat([train, probe])
    shape = (int(both["user_code"].max()) + 1, int(both["item_code"].max()) + 1)
    mean = float(train["rating"].mean())
    session = smurff.TrainSession(
        num_latent=k, burnin=burn_in, nsamples=samples, seed=0, verbose=0,
        num_threads=1,  # with more threads, no two runs are alike
    )  # fmt: skip
    session.addTrainAndTest(_sparse(train, shape, mean), _sparse(probe, shape, mean), smurff.FixedNoise(PRECISION))
    with redirect_stderr(StringIO()):  # a progress bar
        found = {p.coords: p.pred_avg for p in session.run()}
    keys = zip(probe["user_code"].to_list(), probe["item_code"].to_list(), strict=True)
    return np.clip(mean + np.array([found[key] for key in keys]), 1.0, 5.0)


def most_likely_stars(train: pl.DataFrame, probe: pl.DataFrame, expected: Floats, noise: float) -> Floats:
    """Apply the rule of section 6.4, ties ignored, to preferences ``Phi((x_i - x_j) / noise)``, (n,).

    expected: the stars x that a model expects for the training ratings and then for those of the probe. Somebody
    without training ratings gets the middle level.
    """
    levels = np.arange(1, 6)
    asked = probe.select("user", asked=pl.Series(expected[len(train) :])).with_row_index("row")
    known = train.select("user", "rating", known=pl.Series(expected[: len(train)]))
    pairs = asked.join(known, on="user")
    wins = ndtr((pairs["asked"] - pairs["known"]).to_numpy() / noise)
    at = np.searchsorted(levels, pairs["rating"].to_numpy())
    likelihoods = level_likelihoods(
        pairs["row"].to_numpy().astype(np.int64), at, wins, np.empty(0), len(probe), len(levels), "ignore"
    )
    stars = levels[likelihoods.argmax(axis=1)].astype(float)
    stars[np.bincount(pairs["row"].to_numpy(), minlength=len(probe)) == 0] = 3.0
    return stars


def movie_factors(train: pl.DataFrame, k: int, burn_in: int, samples: int) -> Floats:
    """Give the factors of the movies in the last sample of a BPMF fit, (Q, K), movies in the order of their numbers.

    The noise is smurff's own: these are rankings to simulate from, not predictions.
    """
    import smurff

    train, _ = _number(train, train)
    shape = (int(train["user_code"].max()) + 1, int(train["item_code"].max()) + 1)
    with tempfile.TemporaryDirectory() as folder:
        session = smurff.BPMFSession(
            Ytrain=_sparse(train, shape, float(train["rating"].mean())), is_scarce=True, num_latent=k, burnin=burn_in,
            nsamples=samples, seed=0, num_threads=1,
            verbose=0, save_name=str(Path(folder) / "samples.hdf5"), save_freq=samples,
        )  # fmt: skip
        with redirect_stderr(StringIO()):
            session.run()
        last = session.makePredictSession().samples[-1]
        return np.asarray(last.latents[1]).reshape(k, -1).T


def predict_pmf(train: pl.DataFrame, probe: pl.DataFrame, k: int, regularisation: tuple[float, ...]) -> Floats:
    """Predict the probe's stars by PMF, its regularisation chosen on a tenth of the training ratings, (n,)."""
    train, probe = _number(train, probe)
    held_out = np.random.default_rng(0).random(len(train)) < 0.1
    inner, outer = train.filter(pl.Series(~held_out)), train.filter(pl.Series(held_out))
    errors = [np.mean((_pmf(inner, outer, k, value) - outer["rating"].to_numpy()) ** 2) for value in regularisation]
    return _pmf(train, probe, k, regularisation[int(np.argmin(errors))])


def _pmf(train: pl.DataFrame, asked: pl.DataFrame, k: int, regularisation: float) -> Floats:
    from cornac.data import Dataset
    from cornac.models import PMF

    rows = zip(*(train[name].to_list() for name in ("user_code", "item_code", "rating")), strict=True)
    data = Dataset.from_uir(list(rows), seed=0)
    model = PMF(k=k, lambda_reg=regularisation, seed=0).fit(data)
    # numbers that PMF has not seen are rated by its default
    users, items = (
        [ids.get(code, len(ids)) for code in asked[name].to_list()]
        for ids, name in ((data.uid_map, "user_code"), (data.iid_map, "item_code"))
    )
    return np.array([float(model.rate(u, i)) for u, i in zip(users, items, strict=True)])
