"""Who takes part. A method file has ``SETTINGS``, at most five, and ``fit(train, seed, threads, **setting)``.

``fit`` returns a function from what new users were asked and from questions to log odds of left (or, from methods that
know utilities only, their difference: the slope is found for everybody). Method files never see answers.
"""

import hashlib
from dataclasses import dataclass
from pathlib import Path

FOLDED, IGNORED = "folded in", "ignored: one ranking for all"
NO_PAIRS = "takes stars, not the comparisons that new users are asked"
NO_STRANGERS = "knows nobody whom it was not fitted to"


@dataclass(frozen=True)
class Method:
    """Where a method runs, what it may see, what becomes of new users' comparisons, whose versions to report.

    ``sets``: the only sets it takes part on; none named, all.
    """

    environment: str
    track: str
    new_users: str
    packages: tuple[str, ...]
    sets: tuple[str, ...] = ()

    @property
    def takes_new_users(self) -> bool:
        return self.new_users in (FOLDED, IGNORED)


OURS = "plurank_mixed"
METHODS = {
    OURS: Method("plurank", "comparisons", FOLDED, ("plurank",)),
    "plurank_single": Method("plurank", "comparisons", FOLDED, ("plurank",)),
    "pair_frequency": Method("plurank", "comparisons", IGNORED, ("numpy",)),
    "choix_bt": Method("main", "comparisons", IGNORED, ("choix",)),
    "evalica_bt": Method("main", "comparisons", IGNORED, ("evalica",)),
    "crowdkit_bt": Method("main", "comparisons", IGNORED, ("crowd-kit",)),
    "lda_sklearn": Method("main", "comparisons", FOLDED, ("scikit-learn",)),
    "lda_tomotopy": Method("main", "comparisons", FOLDED, ("tomotopy",)),
    "cornac_wins": Method("main", "comparisons", NO_STRANGERS, ("cornac",)),
    "implicit_wins": Method("main", "comparisons", FOLDED, ("implicit",)),
    "smurff_wins": Method("smurff", "comparisons", NO_STRANGERS, ("smurff",)),
    "hb_logit": Method("numpyro", "comparisons", FOLDED, ("numpyro", "jax")),
    "cornac_mf": Method("main", "stars", NO_PAIRS, ("cornac",)),
    "implicit_likes": Method("main", "stars", NO_PAIRS, ("implicit",)),
    "smurff_bpmf": Method("smurff", "stars", NO_PAIRS, ("smurff",)),
    "smurff_macau": Method("smurff", "stars", NO_PAIRS, ("smurff",)),
    "reddwarf": Method("reddwarf", "stars", NO_PAIRS, ("red-dwarf",), ("vtaiwan", "bowling-green")),
    "plurank_ratings": Method("plurank", "stars", FOLDED, ("plurank",)),
}


def code_of(name: str) -> str:
    """Name the code of a method by a few digits: of its file, of those here that it mentions, of plurank if it is it.

    A method whose code has changed runs again.
    """
    here = Path(__file__).parent
    own = (here / f"{name}.py").read_text()
    files = [file for file in here.glob("*.py") if file.stem == name or file.stem in own]
    if METHODS[name].environment == "plurank":
        files += (here.parents[2] / "src" / "plurank").rglob("*.py")
    return hashlib.sha256(b"".join(file.read_bytes() for file in sorted(files))).hexdigest()[:12]
