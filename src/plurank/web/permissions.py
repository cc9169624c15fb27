"""What may be told to whoever asks: results of a survey, and what the model knows about single users."""

from plurank.web.refusals import Refusal
from plurank.web.settings import Settings


class Permissions:
    """Raises a 403 where an answer would reveal what the service hides."""

    def __init__(self, settings: Settings) -> None:
        # whoever comes in where there is a token has shown it
        self.results = not settings.hides_results or settings.token is not None
        self.people = settings.shows_people

    def check_results(self) -> None:
        """Raise where results are hidden."""
        if not self.results:
            raise Refusal(
                403,
                "this service runs a survey and hides its results, so that they do not influence answers. Start it "
                "with --show-results, or with a token for those who may see them.",
            )

    def check_people(self, *users: object) -> None:
        """Raise where one of the users is given and people are hidden, whether or not the model knows the user."""
        if not self.people and any(user is not None for user in users):
            raise Refusal(
                403,
                "this service tells nothing about single users of the model. Leave out the user, send answers "
                "instead, or start it with --show-people or a token.",
            )
