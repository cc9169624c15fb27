"""Commands that show a model to others: ``report``, an HTML page, and ``serve``, a web service."""

import os
from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

import plurank
from plurank.cli import options
from plurank.cli.error_messages import about, was_interrupted
from plurank.cli.inputs import add_texts, as_file, open_source
from plurank.cli.output import check_page, emit_json, note, out, progress, warn, written
from plurank.exceptions import DataError, ParameterError, extra
from plurank.text import label

Feedback = Annotated[
    str | None,
    typer.Option("--feedback", metavar="DB", help="Database for answers: a SQLite file or a PostgreSQL URL."),
]


def report_command(
    model: options.ModelFile,
    data: Annotated[
        Path | None,
        typer.Argument(
            metavar="COMPARISONS",
            help="Data the model was fitted to (file or store), to measure its quality.",
            callback=as_file,
        ),
    ] = None,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="PAGE", help="Output HTML file.")] = Path(
        "report.html"
    ),
    title: Annotated[str | None, typer.Option("--title", metavar="TEXT", help="Heading of the page.")] = None,
    with_people: Annotated[
        bool,
        typer.Option("--with-people", help="Include typical users by name, and groups of fewer than five."),
    ] = False,
    seed: options.Seed = 0,
    ties: options.Ties = "half",
    column: options.Column = None,
    items: options.ItemsFile = None,
    as_json: options.JsonFlag = False,
) -> None:
    """Write an HTML report about a model.

    A self-contained HTML file: the rankings and how they differ, the users' weights, consensus and contested
    items, and the quality of the data. With COMPARISONS the model is refitted to most of them, and the report
    includes its held-out accuracy. No user is named, except with --with-people.

    \b
    Examples:
      plurank report model.plurank -o report.html
      plurank report model.plurank votes.csv -o report.html
      plurank report model.plurank votes.csv -o report.html --title "Lunch"

    COMPARISONS has the columns of `plurank fit`: user, winner, loser, or user, left, right, winner, or other
    names for these.
    """
    with extra("report", "`plurank report`"):
        import_module("plurank.report.page")  # before any work
    target = check_page(output, model, *([] if data is None else [data]))
    fitted = plurank.load(model)
    source = None if data is None else open_source(data, column, ties, items)
    add_texts(fitted, items)
    with progress("writing the report", announce=data is not None) as on_progress, about(data or model):
        plurank.write_report(
            fitted, target, source, title=title, with_people=with_people, random_state=seed, on_progress=on_progress
        )
    written.append(target)
    if as_json:
        emit_json({"output": str(output), "n_bytes": target.stat().st_size})
    else:
        out().print(f"Wrote {label(output)}. Open it in a browser; it works offline.", soft_wrap=True)


def serve_command(
    model: Annotated[
        Path, typer.Argument(metavar="MODEL", help="Model file, or a list of items (.txt, .csv) for a new survey.")
    ],
    host: Annotated[str, typer.Option("--host", metavar="NAME", help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", metavar="N", min=0, max=65535, help="Port (0: pick a free port).")
    ] = 8000,
    workers: Annotated[int, typer.Option("--workers", metavar="N", min=1, help="Number of worker processes.")] = 1,
    feedback: Feedback = None,
    no_feedback: Annotated[bool, typer.Option("--no-feedback", help="Do not store answers.")] = False,
    hide_results: Annotated[
        bool | None,
        typer.Option(
            "--hide-results/--show-results",
            help="Hide or show the results of other visitors.",
            show_default="hide if answers are stored",
        ),
    ] = None,
    show_people: Annotated[
        bool, typer.Option("--show-people", help="Let anybody query the users of the model.")
    ] = False,
    title: Annotated[str | None, typer.Option("--title", metavar="TEXT", help="Heading of the page.")] = None,
    question: Annotated[
        str | None,
        typer.Option("--question", metavar="TEXT", help='Question to ask (default: "Which do you prefer?").'),
    ] = None,
    questions: Annotated[
        int | None,
        typer.Option(
            "--questions", metavar="N", min=1, help="Questions per visitor.", show_default="20 if results are hidden"
        ),
    ] = None,
    token_file: Annotated[
        Path | None,
        typer.Option("--token-file", metavar="FILE", help="File with the bearer token clients must send."),
    ] = None,
    allow_origin: Annotated[
        str | None,
        typer.Option("--allow-origin", metavar="ORIGIN", help="Allowed CORS origin (* for any)."),
    ] = None,
    allow_frame: Annotated[
        str | None,
        typer.Option("--allow-frame", metavar="ORIGIN", help="Origin that may embed the page in a frame (* for any)."),
    ] = None,
    rate: Annotated[
        float,
        typer.Option(
            "--rate", metavar="N", min=0, help="Max. requests per minute per client and worker (0: unlimited)."
        ),
    ] = 6000,
) -> None:
    """Serve a model over HTTP, with a live page.

    The page asks visitors which of two items they prefer. Answers are stored in a database (MODEL.feedback.db by
    default); `plurank update MODEL --feedback DB` updates the model with them, and a running service reloads the
    new model. To avoid influencing visitors, results are hidden while answers are stored; --show-results shows
    visitors the rankings and their own weights. The JSON API is described by /openapi.json. Stop with Ctrl-C.

    A new survey can start from a list of items without comparisons: a text file with one item per line, or a CSV
    file with a column of texts. `plurank fit LIST.feedback.db -k 2 -o model.plurank` fits a model to its answers.

    \b
    Examples:
      plurank serve model.plurank
      plurank serve model.plurank --show-results --no-feedback
      plurank serve ideas.txt --title "Our town" --questions 12
      plurank serve model.plurank --port 8080 --workers 4
      plurank serve model.plurank --host 0.0.0.0 --token-file token.txt
      plurank serve model.plurank --feedback postgresql+psycopg://me@db/votes

    With --token-file, or a token in the environment variable PLURANK_TOKEN, requests must send the header
    "Authorization: Bearer TOKEN", except for /health and the page's own files.
    """
    with extra("web", "`plurank serve`"):
        from plurank.data.items import is_item_list
        from plurank.web import server
        from plurank.web.configuration import ServiceSettings
    database, token, is_local = (
        _choose_feedback(model, feedback, no_feedback),
        _read_token(token_file),
        server.is_loopback(host),
    )
    settings = ServiceSettings(
        database, token, allow_origin, rate, is_local=is_local and token is None, hide_results=hide_results,
        show_people=show_people, title=title, question=question, questions=questions, allow_frame=allow_frame,
    )  # fmt: skip
    if not is_local and token is None:
        warn(f"anybody who can reach {host} can use this service. Require a token with --token-file.")
    port = server.resolve_port(host, port)
    with progress("preparing the service"):
        server.check_model_and_settings(model, settings)
    if is_item_list(model) and database is not None:
        made = label(model.with_suffix(".plurank").name)
        note(f"Once there are answers: plurank fit {label(database)} -k 2 -o {made}")
    shown = f"[{host}]" if ":" in host else host
    try:
        out().print(f"Serving {label(model)} at http://{shown}:{port}/. Press Ctrl-C to stop.", soft_wrap=True)
        if settings.hides_results:
            out().print("Results are hidden from visitors; use --show-results to show them.", soft_wrap=True)
        server.run_server(model, settings, host=host, port=port, workers=workers)
    except BaseException as error:
        if not was_interrupted(error):  # Ctrl-C during start-up is a normal stop, too
            raise


def _choose_feedback(model: Path, feedback: str | None, no_feedback: bool) -> str | None:
    if no_feedback and feedback is not None:
        raise ParameterError("--feedback and --no-feedback exclude each other. Use one of them.")
    if no_feedback:
        return None
    return feedback or str(model.with_name(f"{model.name}.feedback.db"))


def _read_token(file: Path | None) -> str | None:
    if file is None:
        return os.environ.get("PLURANK_TOKEN") or None
    try:
        return file.read_text(encoding="ascii").strip()
    except UnicodeDecodeError:
        raise DataError(f"{file}: the token must be ASCII text. Use another one.") from None
