"""Coverage-guided captures: whatever the bytes, both paths give the same profile, soon and in bounded memory.

`make fuzz` runs it. The arguments are those of libFuzzer; the seeds are written to the folder that is named first.
"""

import contextlib
import importlib
import io
import sys
from pathlib import Path
from typing import Any

# Not a dependency: the make target installs it, and nothing but this file imports it.
atheris: Any = importlib.import_module("atheris")

with atheris.instrument_imports(include=["pratique_ingest"]):
    from pratique_ingest.capture.containers import NotACapture, open_capture
    from tests.assurance.corpus import classic, seeds
    from tests.assurance.mutations import paths

CLASSIC = b"\xd4\xc3\xb2\xa1"


class Difference(AssertionError):
    """The two paths gave two profiles, or a decoder broke."""


def check(file: bytes) -> None:
    """Read a capture by both paths; whatever is raised ends the run and leaves the bytes behind."""
    answers = list(paths(file))
    if any(answer != answers[0] for answer in answers):
        raise Difference("the paths differ")
    if answers[0] is not None and any(warning.code == "packet-not-decoded" for warning in answers[0].warnings):
        raise Difference("a decoder broke")


def reframed(file: bytes, most: int, seed: int) -> bytes:
    """Mutate one frame and write the capture anew, with lengths that fit; every other time mutate the file as it is."""
    frames: list[bytes] = []
    if seed % 2 and file[:4] == CLASSIC:
        with contextlib.suppress(NotACapture):
            frames = [frame.data for frame in open_capture(io.BytesIO(file), 1 << 20)[1]]
    if not frames:
        return bytes(atheris.Mutate(file, most))
    place = seed // 2 % len(frames)
    room = max(1, most - len(file) + len(frames[place]))
    frames[place] = bytes(atheris.Mutate(frames[place], room))
    return file[:24] + classic(frames, 1, "<", 0xA1B2C3D4)[24:]


def main() -> None:
    """Write the seeds and run until libFuzzer's own options say stop."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, file in seeds().items():
        (folder / name.replace(" ", "-")).write_bytes(file)
    atheris.Setup(sys.argv[:1] + sys.argv[2:] + [str(folder)], check, custom_mutator=reframed)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
