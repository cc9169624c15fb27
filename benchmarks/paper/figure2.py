"""Figure 2 of the paper, measured: the rows of E are mixtures of the rows of the novel pairs.

    python -m benchmarks.paper.figure2

Five items and K = 3 separable rankings. Every row of E is a point in the plane through the rows of three novel pairs,
drawn true to scale, with the solid angle of Algorithm 2: the share of directions along which no row that is separated
from it (by d / 2, as in the appendix) lies above. Beside the population, estimates from 300 and 30,000 users with 40
comparisons each, dropped on the same plane (column off_plane: how far they were from it).
With 300 users two novel pairs of the third ranking are taken for separated, so they share its solid angle.
"""

import altair as alt
import numpy as np
import polars as pl

import plurank
from benchmarks.common import write_results
from benchmarks.paper.figures import COLOURS, GREY, save_figure, shapes
from plurank.topic.moments import pair_moments
from plurank.topic.theory import Population, known_population, sample_bound

RANKINGS, MEAN = [[0, 1, 2, 3, 4], [1, 3, 2, 4, 0], [3, 0, 2, 1, 4]], [0.4, 0.35, 0.25]
CONCENTRATION, PER_USER = 0.5, 40
N_DIRECTIONS = 20_000


def plane(vertices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """An origin and two orthonormal directions of the plane through three points, the first along one side."""
    basis, signs = np.linalg.qr((vertices[1:] - vertices[0]).T)
    return vertices[0], basis * np.sign(np.diagonal(signs))


def solid_angles(moments: np.ndarray, separation: float) -> np.ndarray:
    """Algorithm 2, line by line."""
    diagonal = np.diagonal(moments)
    separated = diagonal[:, None] - moments - moments.T + diagonal >= separation
    heights = moments @ np.random.default_rng(0).standard_normal((len(moments), N_DIRECTIONS))
    return np.array(
        [(own >= heights[rivals].max(axis=0)).mean() for own, rivals in zip(heights, separated, strict=True)]
    )


def estimate(n_users: int) -> np.ndarray:
    """E from simulated users, without the rows of ordered pairs that no ranking has."""
    truth = plurank.simulate(
        n_users, rankings=RANKINGS, mean_weights=MEAN, concentration=CONCENTRATION, comparisons_per_user=PER_USER,
        random_state=0,
    )  # fmt: skip
    moments = pair_moments(truth.comparisons, 0)
    occurs = np.flatnonzero(moments.counts)
    return moments.product(np.eye(len(moments.counts)))[np.ix_(occurs, occurs)]


def describe(
    panel: str, moments: np.ndarray, population: Population, axes: tuple[np.ndarray, np.ndarray], separation: float
) -> list[dict[str, object]]:
    origin, basis = axes
    coordinates = (moments - origin) @ basis
    off_plane = np.linalg.norm(moments - origin - coordinates @ basis.T, axis=1)
    angles = solid_angles(moments, separation)
    columns = zip(population.pairs + 1, population.novel_to, coordinates, off_plane, angles, strict=True)
    return [
        {
            "panel": panel, "pair": f"({i},{j})", "kind": "not novel" if k < 0 else f"novel to ranking {k + 1}",
            "x": round(x, 5), "y": round(y, 5), "off_plane": round(off, 5), "solid_angle": round(angle, 5),
        }
        for (i, j), k, (x, y), off, angle in columns
    ]  # fmt: skip


def label_corners(rows: list[dict[str, object]], corners: np.ndarray) -> pl.DataFrame:
    """Name the novel pairs of each ranking beside its corner, with their solid angles."""
    labels = []
    for k, (x, y) in enumerate(corners):
        own = [row for row in rows if row["kind"] == f"novel to ranking {k + 1}"]
        angles = sorted(round(row["solid_angle"], 2) for row in own)
        span = f"{angles[0]:.2f}" if angles[0] == angles[-1] else f"{angles[0]:.2f} to {angles[-1]:.2f}"
        text = " ".join(row["pair"] for row in own) + f"\n{span}"
        labels.append({"x": x, "y": y - 0.55 if y < corners[:, 1].mean() else y + 0.8, "label": text})
    return pl.DataFrame(labels)


def draw(rows: list[dict[str, object]], corners: np.ndarray) -> alt.Chart:
    kinds = [f"novel to ranking {k}" for k in (1, 2, 3)] + ["not novel"]
    outline = pl.DataFrame([{"x": x, "y": y, "order": n} for n, (x, y) in enumerate([*corners, corners[0]])])
    # as many units wide as high, or angles would not be true
    place = {
        "x": alt.X("x:Q", scale=alt.Scale(domain=[-1.2, 5.9], nice=False), axis=None),
        "y": alt.Y("y:Q", scale=alt.Scale(domain=[-1.3, 5.8], nice=False), axis=None),
    }
    triangle = (
        alt.Chart(outline).mark_line(color=GREY, strokeDash=[4, 3], strokeWidth=1.5).encode(order="order:Q", **place)
    )
    colour = alt.Color("kind:N", scale=alt.Scale(domain=kinds, range=[*COLOURS[:3], GREY]), title="ordered pair")
    size = alt.Size(
        "solid_angle:Q", scale=alt.Scale(domain=[0, 0.4], range=[30, 400]), title="solid angle",
        legend=alt.Legend(values=[0, 0.1, 0.2, 0.3, 0.4]),
    )  # fmt: skip
    panels = []
    for panel in dict.fromkeys(row["panel"] for row in rows):
        own = [row for row in rows if row["panel"] == panel]
        points = alt.Chart(pl.DataFrame(own)).mark_point(filled=True, opacity=0.6)
        points = points.encode(color=colour, shape=shapes("kind", kinds, "ordered pair"), size=size, **place)
        labels = (
            alt.Chart(label_corners(own, corners))
            .mark_text(fontSize=12, lineBreak="\n")
            .encode(text="label:N", **place)
        )
        panels.append(alt.layer(triangle, points, labels).properties(width=310, height=310, title=panel))
    return alt.hconcat(*panels)


def main() -> None:
    population = known_population(RANKINGS, MEAN, CONCENTRATION)
    bound = sample_bound(RANKINGS, MEAN, CONCENTRATION, PER_USER)
    exact = population.moments
    first_novel = [int(np.flatnonzero(population.novel_to == k)[0]) for k in range(3)]
    origin, basis = plane(exact[first_novel])
    panels = {"population": exact} | {f"{n:,} users": estimate(n) for n in (300, 30_000)}
    rows = []
    for panel, moments in panels.items():
        rows += describe(panel, moments, population, (origin, basis), bound.entry_distance / 2)
    write_results("paper/figure2", rows)
    save_figure(draw(rows, (exact[first_novel] - origin) @ basis), "figure2")


if __name__ == "__main__":
    main()
