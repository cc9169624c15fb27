"""The check that numbers in the documentation are in the results."""

import pytest

from tools.check_numbers import check_document
from tools.documents import read_blocks
from tools.results import Results

SPEED = """method,items,seed,share,seconds
ours,100,0,0.912,1.25
ours,100,1,0.914,1.75
theirs,100,0,0.804,13.4
theirs,100,1,0.806,13.8
"""
MODULE = 'write_results(f"speed{suffix}", rows)\n'
NAMED = "# Speed\n\n`benchmarks/results/speed.csv`\n\n"


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    root = tmp_path_factory.mktemp("checkout")
    (root / "benchmarks/results").mkdir(parents=True)
    (root / "benchmarks/results/speed.csv").write_text(SPEED)
    (root / "benchmarks/speed.py").write_text(MODULE)
    return Results(root)


def said(document, results):
    """Return what is wrong with a document, as (line, text)."""
    return [(problem.line, problem.what) for problem in check_document(document, results)]


def shown(text):
    """Return the measured numbers of the only paragraph of a text."""
    (block,) = read_blocks(text)
    return [number.shown for number in block.numbers()]


def test_a_number_in_the_file_passes(results):
    assert said(NAMED + "With ours the share is 0.912 to 0.914.\n", results) == []


def test_a_number_that_is_not_in_the_file_fails_with_its_line_and_where_it_was_looked_for(results):
    ((line, text),) = said(NAMED + "With ours the share\nis 0.917.\n", results)
    assert line == 6
    assert text.startswith("0.917 is not in speed: With ours")


@pytest.mark.parametrize("text", ["Ours takes 1.50 s.", "Ours holds 91.3 %.", "Theirs takes 13.60 s, ours 1.50 s."])
def test_means_and_percentages_of_the_rows_that_the_sentence_names_pass(text, results):
    assert said(NAMED + text + "\n", results) == []


def test_a_name_within_another_is_not_taken_for_it(tmp_path):
    (tmp_path / "benchmarks/results").mkdir(parents=True)
    (tmp_path / "benchmarks/results/speed.csv").write_text("method,share\nRP,0.912\nRP as printed,0.734\n")
    results = Results(tmp_path)
    assert said(NAMED + "RP as printed has 0.734.\n", results) == []
    assert len(said(NAMED + "RP as printed has 0.912.\n", results)) == 1


def test_a_number_of_other_rows_than_the_sentence_names_fails(results):
    assert "13.4" in said(NAMED + "Ours takes 13.4 s.\n", results)[0][1]


def test_a_number_without_a_file_fails(results):
    ((_, text),) = said("# Speed\n\nThe share is 0.912.\n", results)
    assert "0.912 is not in any file, as none is named" in text


def test_files_are_those_that_the_command_of_an_enclosing_section_writes(results):
    document = "# A\n\n## Speed\n\n`python -m benchmarks.speed`\n\n### Shares\n\nOurs has 0.912.\n\n"
    document += "## Other\n\nOurs has 0.912.\n"
    assert [line for line, _ in said(document, results)] == [13]


def test_a_number_among_many_needs_a_query(tmp_path):
    (tmp_path / "benchmarks/results").mkdir(parents=True)
    rows = "".join(f"{n / 100}\n" for n in range(100))
    (tmp_path / "benchmarks/results/many.csv").write_text("share\n" + rows)
    results = Results(tmp_path)
    document = "# Many\n\n`benchmarks/results/many.csv`\n\nThe share is 0.42."
    assert "one of many values" in said(document, results)[0][1]
    assert said(document + " <!-- numbers: select share from many where share = 0.42 -->\n", results) == []
    assert said(document + " <!-- numbers: select max(share) from many -->\n", results) != []


def test_rows_of_a_table_are_checked_by_their_labels(results):
    table = "| method | share | seconds |\n|---|---|---|\n| ours | 0.913 | 1.50 |\n| theirs | {} | 13.6 s |\n"
    assert said(NAMED + table.format("0.805"), results) == []
    assert [line for line, _ in said(NAMED + table.format("0.913"), results)] == [8]


def test_a_query_behind_a_table_confirms_it_row_by_row(results):
    table = "| method | share | seconds |\n|---|---|---|\n| ours | {} | 1.50 |\n| theirs | 0.805 | 13.60 |\n\n"
    query = "<!-- numbers: select method, avg(share), avg(seconds) from speed\ngroup by method -->\n"
    assert said("# Speed\n\n" + table.format("0.913") + query, results) == []
    ((line, text),) = said("# Speed\n\n" + table.format("0.805") + query, results)
    assert line == 5
    assert "0.805 is in no answer that fits the row: | ours" in text


def test_a_query_confirms_numbers_by_the_labels_of_row_and_column(results):
    table = "# Speed\n\n| items | ours | theirs |\n|---|---|---|\n| 100 | 0.913 | {} |\n\n"
    query = "<!-- numbers: select cast(items as varchar) as n, method, avg(share) from speed group by n, method -->\n"
    assert said(table.format("0.805") + query, results) == []
    assert [text.split()[0] for _, text in said(table.format("0.913") + query, results)] == ["0.913"]


def test_a_row_is_not_confirmed_by_the_numbers_of_another_label(results):
    table = "# Speed\n\n| method | share |\n|---|---|\n| ours | 0.805 |\n| theirs | 0.913 |\n\n"
    assert len(said(table + "<!-- numbers: select avg(share) from speed group by method -->\n", results)) == 0
    query = "<!-- numbers: select method, avg(share) from speed group by method -->\n"
    assert [line for line, _ in said(table + query, results)] == [5, 6, 8]


@pytest.mark.parametrize("word", ["given", "cited"])
def test_numbers_that_are_marked_pass_and_others_in_the_paragraph_fail(word, results):
    document = f"# A\n\nThe bound is 0.5, they report 10 %, we 12.5 %. <!-- numbers: {word} 0.5, 10 % -->\n"
    ((_, text),) = said(document, results)
    assert text.startswith("12.5 % is not in")
    assert said(document.replace(" 0.5, 10 % -->", " -->"), results) == []


def test_a_marker_below_a_heading_is_about_the_section(results):
    document = "# A\n\n## B\n\n<!-- numbers: given -->\n\n0.5 and\n\n### C\n\n0.6 and\n\n## D\n\n0.7.\n"
    assert [line for line, _ in said(document, results)] == [15]


def test_unverified_numbers_are_told_apart(results):
    for document in ("# A\n\n0.5 <!-- numbers: unverified -->\n", "# A\n\n<!-- numbers: unverified -->\n\n0.5\n"):
        assert [problem.unverified for problem in check_document(document, results)] == [True]


def test_what_is_found_in_an_unverified_section_counts_as_verified(results):
    heading = "# A\n\n<!-- numbers: unverified -->\n\n`benchmarks/results/speed.csv`\n\n"
    found = list(check_document(heading + "Ours has 0.912 and 0.917.\n", results))
    assert [problem.what.split()[0] for problem in found] == ["0.917"]


@pytest.mark.parametrize(
    ("marker", "expected"),
    [
        ("given 0.6", "0.6 is marked given and not in the text"),
        ("gievn", "expected a query or one of given, cited, unverified, got gievn"),
        ("select share from speeed", "cannot be answered"),
        ("select seconds from speed", "confirms nothing"),
    ],
)
def test_a_wrong_marker_fails(marker, expected, results):
    found = said(f"# A\n\nIt is 0.5. <!-- numbers: {marker} -->\n", results)
    assert any(expected in text for _, text in found), found


def test_a_marker_for_nothing_fails(results):
    assert said("# A\n\nNo numbers. <!-- numbers: given -->\n", results) == [(3, "nothing is left to be given")]


def test_a_query_below_a_heading_fails(results):
    document = "# A\n\n<!-- numbers: select share from speed -->\n\n0.912\n"
    assert "without numbers below a heading" in said(document, results)[0][1]


def test_a_file_or_command_that_does_not_exist_is_reported(results):
    document = "# A\n\n`benchmarks/results/sped.csv` and `python -m\nbenchmarks.sped --fast`.\n"
    assert [text for _, text in said(document, results)] == [
        "benchmarks/results/sped.csv does not exist",
        "python -m benchmarks.sped does not exist",
    ]


def test_numbers_are_measured_if_they_have_decimals_a_sign_a_unit_or_belong_to_a_count():
    text = "0.5 or -3, 12 ms, 3 to 5 s, 40 %, 9e-9, 642 of 645, 1,760 seconds, 2.4 million, 0:29, 3 times"
    assert " ".join(shown(text)) == "0:29 0.5 -3 12 3 5 40 % 9e-9 642 645 1,760 2.4 3"


def test_code_versions_levels_and_plain_whole_numbers_are_not_measured():
    text = "`x = 0.5`, [a](b.md#0.5), version 0.1.0, Python 3.11, C++20, section 6.3, 95 % intervals, 300 users, 10^7.5"
    assert shown(text) == []


def test_fenced_code_is_not_read(results):
    assert said("# A\n\n```python\nx = 0.5\n```\n", results) == []


def test_a_comment_that_does_not_end_hides_nothing(results):
    assert len(said("# A\n\n<!-- numbers: given\n\n0.5\n", results)) == 1
