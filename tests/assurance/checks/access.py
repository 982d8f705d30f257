"""Access: every operation for every caller on its own and on others' things, from the matrix of the tests."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

from tests.assurance.figures import Figure, Profile, none, some

REPOSITORY = Path(__file__).resolve().parents[3]
MATRIX = "tests/unit/privacy/http/test_matrix.py"
ROWS = "test_every_operation_of_the_document_has_a_row_and_every_row_an_operation"
OPERATIONS, CALLERS, ANSWERS = 60, 18, 1500  # the matrix has at least as many
TIMEOUT = 900


def access(_: Profile, folder: Path) -> Iterator[Figure]:
    """Run the matrix in a process of its own, and count what it says that it has asked."""
    report = folder / "matrix.xml"
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-o",
        "junit_family=xunit1",
        f"--junitxml={report}",
        MATRIX,
    ]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, timeout=TIMEOUT, check=False)
    if done.returncode:
        print(done.stdout[-10_000:], done.stderr[-2000:], flush=True)
    cases = list(ElementTree.parse(report).iter("testcase"))
    failed = [
        case.attrib["name"] for case in cases if case.find("failure") is not None or case.find("error") is not None
    ]
    said = next((p.attrib["value"] for p in ElementTree.parse(report).iter("property")), "")
    operations, callers, answers = map(int, re.findall(r"\d+", said) or (0, 0, 0))
    yield some("operations", operations, OPERATIONS)
    yield some("callers", callers, CALLERS)
    yield some("answers held against the table", answers, ANSWERS)
    yield none("operations without a row, or rows without one", ROWS in failed)
    yield none("callers that an answer was wrong for, and other failures", len(set(failed) - {ROWS}))
    yield none("exit code of the tests", done.returncode)
