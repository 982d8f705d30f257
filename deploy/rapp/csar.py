"""The rApp package: a CSAR, which is a plain zip of the files in `package` and of the chart as a Helm archive."""

import argparse
import gzip
import io
import tarfile
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
CHART = "Artifacts/Deployment/HELM/posture-watch-0.1.0.tgz"
EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest moment that a zip can name: equal files give equal bytes


def files(folder: Path) -> list[Path]:
    """Return the files below a folder, sorted."""
    return sorted(path for path in folder.rglob("*") if path.is_file())


def chart_archive(chart: Path) -> bytes:
    """Return the chart as `helm package` lays it out: everything below a folder of its name."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for path in files(chart):
            entry = tarfile.TarInfo(f"posture-watch/{path.relative_to(chart).as_posix()}")
            entry.size, entry.mode = path.stat().st_size, 0o644
            archive.addfile(entry, io.BytesIO(path.read_bytes()))
    return gzip.compress(packed.getvalue(), mtime=0)


def write(to: Path) -> None:
    """Write the package; its name must end in `.csar`, or the manager refuses it."""
    package = HERE / "package"
    contents = {path.relative_to(package).as_posix(): path.read_bytes() for path in files(package)}
    contents[CHART] = chart_archive(HERE / "chart")
    to.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(to, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in sorted(contents.items()):
            archive.writestr(zipfile.ZipInfo(name, EPOCH), content, zipfile.ZIP_DEFLATED)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("out/posture-watch.csar"))
    given = parser.parse_args()
    write(given.out)
    print(f"the rApp package is {given.out}")
