"""``plurank serve``: a model over HTTP."""

import os
from pathlib import Path
from typing import Annotated

import typer

from plurank.cli.interrupts import was_interrupted
from plurank.cli.output import (
    label,
    note,
    out,
    progress,
    warn,
)
from plurank.exceptions import DataError, ParameterError
from plurank.extras import extra

Feedback = Annotated[
    str | None,
    typer.Option("--feedback", metavar="DB", help="Where answers go: a SQLite file, or a PostgreSQL URL."),
]


def serve(
    model: Annotated[
        Path, typer.Argument(metavar="MODEL", help="A model file, or a list of items (.txt, .csv) to begin a survey.")
    ],
    host: Annotated[str, typer.Option("--host", metavar="NAME", help="Where to listen.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", metavar="N", min=0, max=65535, help="0: any free one.")] = 8000,
    workers: Annotated[int, typer.Option("--workers", metavar="N", min=1, help="Processes that serve.")] = 1,
    feedback: Feedback = None,
    no_feedback: Annotated[bool, typer.Option("--no-feedback", help="Store no answers.")] = False,
    hide_results: Annotated[
        bool | None,
        typer.Option(
            "--hide-results/--show-results",
            help="Ask only, and show nothing about what others said.",
            show_default="hide, where answers are stored",
        ),
    ] = None,
    show_people: Annotated[
        bool, typer.Option("--show-people", help="Tell anybody what the model knows about its users.")
    ] = False,
    title: Annotated[str | None, typer.Option("--title", metavar="TEXT", help="What the page is about.")] = None,
    question: Annotated[
        str | None, typer.Option("--question", metavar="TEXT", help='Instead of "Which do you prefer?".')
    ] = None,
    questions: Annotated[
        int | None,
        typer.Option(
            "--questions", metavar="N", min=1, help="For every visitor.", show_default="20 where results are hidden"
        ),
    ] = None,
    token_file: Annotated[
        Path | None,
        typer.Option("--token-file", metavar="FILE", help="Holds the token that clients must show."),
    ] = None,
    allow_origin: Annotated[
        str | None,
        typer.Option("--allow-origin", metavar="ORIGIN", help="A web site whose pages may call, too; *: all."),
    ] = None,
    allow_frame: Annotated[
        str | None,
        typer.Option("--allow-frame", metavar="ORIGIN", help="A web site that may show the page in a frame; *: all."),
    ] = None,
    rate: Annotated[
        float,
        typer.Option("--rate", metavar="N", min=0, help="Requests a minute from one address, in each worker; 0: any."),
    ] = 6000,
) -> None:
    """Serve a model over HTTP, with a live page.

    The page asks visitors which of two items they prefer. Answers are stored in a database, MODEL.feedback.db by
    default, and `plurank update MODEL --feedback DB` lets the model learn from them; a running service then goes
    on with the new model. So that nobody is influenced, nothing is told about what others said: --show-results
    shows visitors the rankings and what their answers say about them. Programs use the same addresses, with JSON;
    /openapi.json describes them. Ctrl-C stops it.

    A survey may begin with a list of items that nobody has compared: a text file with one item a line, or a CSV
    file with a column of texts. `plurank fit LIST.feedback.db -k 2 -o model.plurank` fits a model to its answers.

    \b
    Examples:
      plurank serve model.plurank
      plurank serve model.plurank --show-results --no-feedback
      plurank serve ideas.txt --title "Our town" --questions 12
      plurank serve model.plurank --port 8080 --workers 4
      plurank serve model.plurank --host 0.0.0.0 --token-file token.txt
      plurank serve model.plurank --feedback postgresql+psycopg://me@db/votes

    With --token-file, or a token in the environment variable PLURANK_TOKEN, all but /health and the page's own
    files needs the header "Authorization: Bearer TOKEN".
    """
    with extra("web", "`plurank serve`"):
        from plurank.data.readers import is_item_list
        from plurank.web import server
        from plurank.web.settings import Settings
    database, token, is_local = (
        _choose_feedback(model, feedback, no_feedback),
        _read_token(token_file),
        server.is_loopback(host),
    )
    settings = Settings(
        database, token, allow_origin, rate, is_local=is_local and token is None, hide_results=hide_results,
        show_people=show_people, title=title, question=question, questions=questions, allow_frame=allow_frame,
    )  # fmt: skip
    if not is_local and token is None:
        warn(f"anybody who reaches {host} can use this service. Let clients show a token, with --token-file.")
    port = server.resolve_port(host, port)
    with progress("preparing the service"):
        server.check_model_and_settings(model, settings)
    if is_item_list(model) and database is not None:
        made = label(model.with_suffix(".plurank").name)
        note(f"When there are answers: plurank fit {label(database)} -k 2 -o {made}")
    shown = f"[{host}]" if ":" in host else host
    try:
        out().print(f"Serving {label(model)} at http://{shown}:{port}/. Ctrl-C stops it.", soft_wrap=True)
        if settings.hides_results:
            out().print("Visitors are asked, and see no results; --show-results shows them.", soft_wrap=True)
        server.serve(model, settings, host=host, port=port, workers=workers)
    except BaseException as error:
        if not was_interrupted(error):  # Ctrl-C before it had quite started is as good as after
            raise


def _choose_feedback(model: Path, feedback: str | None, no_feedback: bool) -> str | None:
    if no_feedback and feedback is not None:
        raise ParameterError("--feedback and --no-feedback cannot both be meant. Give one of them.")
    if no_feedback:
        return None
    return feedback or str(model.with_name(f"{model.name}.feedback.db"))


def _read_token(file: Path | None) -> str | None:
    if file is None:
        return os.environ.get("PLURANK_TOKEN") or None
    try:
        return file.read_text(encoding="ascii").strip()
    except UnicodeDecodeError:
        raise DataError(f"{file}: expected a token of plain ASCII text. Use another.") from None
