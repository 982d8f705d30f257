"""Asks the advisory database about every pinned version, and says plainly when it could not: `make audit`."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[2]
TOOL = "pip-audit==2.10.1"
LOCKS = ("requirements/lock.txt", "requirements/uv.txt")
FOUND, UNKNOWN = 1, 2  # exit statuses


def verdict(report: dict[str, Any]) -> tuple[int, str]:
    """Return the exit status and what to say of a report: an answer about no package is no clean one."""
    told = report["dependencies"]
    unasked = [package["name"] for package in told if "skip_reason" in package]
    bad = [package for package in told if package.get("vulns")]
    lines = [
        f"{package['name']} {package['version']}: {', '.join(sorted(each['id'] for each in package['vulns']))}"
        for package in bad
    ]
    if unasked:
        lines.append(
            f"NOT AUDITED: {len(unasked)} of {len(told)} packages, about which the advisory service gave no answer"
            f" ({', '.join(unasked[:5])}{', ..' if len(unasked) > 5 else ''})"
        )
    lines.append(f"{len(told) - len(unasked)} packages audited, {len(bad)} with known vulnerabilities")
    return (FOUND if bad else UNKNOWN if unasked else 0), "\n".join(lines)


def main() -> None:
    """Run the auditor over the locks."""
    options = ["--no-deps", "--disable-pip", "--require-hashes", "--progress-spinner", "off", "--format", "json"]
    options += [word for lock in LOCKS for word in ("--requirement", str(REPOSITORY / lock))]
    uvx = Path(sys.executable).with_name("uvx")
    answer = subprocess.run([uvx, "--quiet", TOOL, *options], capture_output=True, check=False)
    try:
        report = json.loads(answer.stdout)
    except ValueError:
        words = answer.stderr.decode(errors="replace").strip().splitlines()
        print("NOT AUDITED: the advisory service could not be reached: " + (words[-1] if words else "no answer"))
        raise SystemExit(UNKNOWN) from None
    status, said = verdict(report)
    print(said)
    raise SystemExit(status)


if __name__ == "__main__":
    main()
