"""Draw the pictures of the README and the documentation: ``make pictures``.

docs/images/rankings.svg: the rankings of the three camps of ``plurank demo``, found from choices alone.
docs/images/page.png: the live page of ``plurank serve`` after ten answers of somebody who likes the mountains.
"""

import tempfile
from pathlib import Path

import plurank
from plurank.cli.demo import CAMPS, make_people

IMAGES = Path(__file__).parent / "images"
WIDTH, HEIGHT, N_ANSWERS = 1100, 1080, 10
MOST_BYTES = 200_000


def main() -> None:
    """Draw both."""
    IMAGES.mkdir(exist_ok=True)
    model = plurank.MixedRanking(len(CAMPS), mixing="probability", random_state=0).fit(make_people(0).comparisons)
    plurank.save_figure(model.plot.rankings(), IMAGES / "rankings.svg")
    photograph(model, IMAGES / "page.png")


def photograph(model: plurank.MixedRanking, target: Path) -> None:
    """Serve the model, answer in a browser, and save what is seen."""
    from tests.browser.stage import Service, open_browser
    from tests.browser.visit import Visit

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "camps.plurank"
        model.save(file)
        with Service(file, "--no-feedback") as service, open_browser() as browser:
            page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
            visit = Visit(page, service.url).open()
            for _ in range(N_ANSWERS):
                visit.answer(CAMPS["mountains"])
            page.mouse.move(0, 0)  # or a card shows that it can be clicked
            page.screenshot(path=target, animations="disabled")
    if target.stat().st_size > MOST_BYTES:
        raise SystemExit(f"{target} has {target.stat().st_size:,} bytes; expected at most {MOST_BYTES:,}.")


if __name__ == "__main__":
    main()
