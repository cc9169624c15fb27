"""``model.plot``: the figures of a fitted model."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from plurank.models.base import RankingModel
    from plurank.report.charts import Chart


class Plots:
    """Figures of a fitted model; each method gives a chart, which a notebook shows and ``chart.save`` saves."""

    def __init__(self, model: "RankingModel") -> None:
        self._model = model

    def __repr__(self) -> str:
        names = [name for name in dir(self) if not name.startswith("_")]
        return f"<figures of a {type(self._model).__name__}: {', '.join(names)}>"

    def rankings(self, top: int | None = None) -> "Chart":
        """Draw the rankings side by side, a line an item, those that are contested in colour.

        All items where they are few; else the ``top`` items for the population, and those that divide.
        """
        from plurank.report.figures.rankings import draw_rankings

        return draw_rankings(self._model, top)

    def places(self, ranking: int = 1, top: int | None = 20) -> "Chart":
        """Draw the best items of one ranking, with 90% intervals of their places where the model has them."""
        from plurank.report.figures.rankings import draw_places

        return draw_places(self._model, ranking, top)

    def contested(self, top: int = 10) -> "Chart":
        """Draw what all camps surely like, dislike or put at the same position, and what they dispute."""
        from plurank.report.figures.contested import draw_contested

        return draw_contested(self._model, top)

    def agreement(self, top: int = 10) -> "Chart":
        """Draw the share of each camp that agrees with items, of votes of agree and disagree."""
        from plurank.report.figures.contested import draw_agreement

        return draw_agreement(self._model, top)

    def weights(self, user: Any = None) -> "Chart":
        """Draw how much a user follows each ranking, with 90% intervals where the model has them.

        Without a user the population's mean.
        """
        from plurank.report.figures.people import draw_weights

        return draw_weights(self._model, user)

    def people(self) -> "Chart":
        """Draw all users by their weights: a histogram, a triangle, or, with more than three rankings, a map."""
        from plurank.report.figures.people import draw_people

        return draw_people(self._model)

    def convergence(self) -> "Chart":
        """Draw the log posterior after each pass of the fit."""
        from plurank.report.figures.fit import draw_convergence

        return draw_convergence(self._model)

    def calibration(self, test: Any) -> "Chart":
        """Draw how often the item predicted to win did so, in comparisons that the model has not seen."""
        from plurank.report.figures.fit import draw_calibration_of

        return draw_calibration_of(self._model, test)

    def comparisons(self, comparisons: Any) -> "Chart":
        """Draw how comparisons are spread over items and users, and the groups of items they link."""
        from plurank.report.figures.data import draw_comparisons

        return draw_comparisons(comparisons)
