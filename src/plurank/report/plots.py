"""``model.plot``: the figures of a fitted model."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from plurank.models.base import RankingModel
    from plurank.report.charts import Chart


class Plots:
    """Figures of a fitted model, as ``model.plot``; each method returns a chart.

    A notebook shows a chart, and ``chart.save`` saves it.

    Parameters
    ----------
    model : RankingModel
        A fitted model.
    """

    def __init__(self, model: "RankingModel") -> None:
        self._model = model

    def __repr__(self) -> str:
        names = [name for name in dir(self) if not name.startswith("_")]
        return f"<figures of a {type(self._model).__name__}: {', '.join(names)}>"

    def rankings(self, top: int | None = None) -> "Chart":
        """Draw the rankings side by side, one line an item, contested ones in colour.

        Parameters
        ----------
        top : int or None, default=None
            How many of the best items for the population to draw, besides contested ones; None draws all where they are
            few.

        Returns
        -------
        Chart
            The figure.
        """
        from plurank.report.figures.places import draw_rankings

        return draw_rankings(self._model, top)

    def places(self, ranking: int = 1, top: int | None = 20) -> "Chart":
        """Draw the best items of one ranking, with 90% intervals of their ranks where the model has them.

        Parameters
        ----------
        ranking : int, default=1
            Number of the ranking, from 1.
        top : int or None, default=20
            How many items to draw; None draws all.

        Returns
        -------
        Chart
            The figure.
        """
        from plurank.report.figures.places import draw_places

        return draw_places(self._model, ranking, top)

    def contested(self, top: int = 10) -> "Chart":
        """Draw what all camps like, dislike or put at the same position with high probability, and what they dispute.

        Parameters
        ----------
        top : int, default=10
            How many items of each kind to draw.

        Returns
        -------
        Chart
            The figure.

        Raises
        ------
        ParameterError
            If there is nothing to draw, or the model is not a ``MixedRanking`` of several rankings.
        """
        from plurank.report.figures.contested import draw_contested

        return draw_contested(self._model, top)

    def agreement(self, top: int = 10) -> "Chart":
        """Draw the share of each camp that agrees with items.

        Parameters
        ----------
        top : int, default=10
            How many items of each kind to draw.

        Returns
        -------
        Chart
            The figure.

        Raises
        ------
        ParameterError
            If the model is not a ``MixedRanking`` of several rankings, was not fitted to agree/disagree votes, or these
            do not say what camps agree on.
        """
        from plurank.report.figures.contested import draw_agreement

        return draw_agreement(self._model, top)

    def weights(self, user: Any = None) -> "Chart":
        """Draw the weights of a user on the rankings, with 90% intervals where the model has them.

        Parameters
        ----------
        user : label or None, default=None
            A user of the model; None draws the mean weights.

        Returns
        -------
        Chart
            The figure.
        """
        from plurank.report.figures.people import draw_weights

        return draw_weights(self._model, user)

    def people(self) -> "Chart":
        """Draw all users by their weights: a histogram, a triangle or, with more than three rankings, a map.

        Returns
        -------
        Chart
            The figure.

        Raises
        ------
        ParameterError
            If the model has a single ranking.
        """
        from plurank.report.figures.people import draw_people

        return draw_people(self._model)

    def effects(self, covariate: str | None = None, level: float = 0.9) -> "Chart":
        """Draw the shares of the rankings by covariate: dots with intervals, and curves over numbers.

        Parameters
        ----------
        covariate : str or None, default=None
            One covariate; None draws all.
        level : float, default=0.9
            Probability that an interval holds the share.

        Returns
        -------
        Chart
            The figure. Levels with fewer than five people are named, and not drawn.

        Raises
        ------
        ParameterError
            If the model was fitted without covariates.
        """
        from plurank.report.effects import table_of_effects
        from plurank.report.figures.effects import draw_effects

        return draw_effects(table_of_effects(self._model, covariate, level), level)

    def convergence(self) -> "Chart":
        """Draw the log posterior after each pass of the fit.

        Returns
        -------
        Chart
            The figure.

        Raises
        ------
        ParameterError
            If the model has no log posterior.
        """
        from plurank.report.figures.evaluation import draw_convergence

        return draw_convergence(self._model)

    def calibration(self, test: Any) -> "Chart":
        """Draw how often the item predicted to win did so, in comparisons that the model has not seen.

        Parameters
        ----------
        test : Comparisons, Store or data frame
            Test comparisons.

        Returns
        -------
        Chart
            The figure.
        """
        from plurank.report.figures.evaluation import draw_calibration_of

        return draw_calibration_of(self._model, test)

    def comparisons(self, comparisons: Any) -> "Chart":
        """Draw how comparisons are distributed over items and users, and the groups of items they connect.

        Parameters
        ----------
        comparisons : Comparisons, Store or data frame
            The comparisons.

        Returns
        -------
        Chart
            The figure.
        """
        from plurank.report.figures.data import draw_comparisons

        return draw_comparisons(comparisons)
