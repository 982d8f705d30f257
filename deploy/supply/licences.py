"""The licences of what the members need to run, as the packages declare them: `python deploy/supply/licences.py`."""

import re
from dataclasses import dataclass
from importlib.metadata import Distribution, PackageNotFoundError, distribution

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

MEMBERS = (
    "pratique",
    "pratique-shared",
    "pratique-ingest",
    "pratique-privacy",
    "pratique-attack-sim",
    "pratique-local",
)
# SPDX identifiers under which a package may be handed on beside Apache-2.0 code.
ALLOWED = frozenset(
    {
        "0BSD",
        "Apache-2.0",
        "BSD-2-Clause",
        "BSD-3-Clause",
        "CC0-1.0",
        "MIT",
        "MIT-0",
        "MPL-2.0",  # by file: certifi, whose files are handed on unchanged
        "PSF-2.0",
        "Zlib",
    }
)
# What older metadata says in words of its own.
WORDS = {
    "3-clause bsd license": "BSD-3-Clause",
    "apache 2.0": "Apache-2.0",
    "apache license 2.0": "Apache-2.0",
    "apache software license": "Apache-2.0",
    "bsd": "BSD-3-Clause",
    "bsd license": "BSD-3-Clause",
    "bsd-3-clause license": "BSD-3-Clause",
    "mit license": "MIT",
    "mozilla public license 2.0 (mpl 2.0)": "MPL-2.0",
    "python software foundation license": "PSF-2.0",
}
_OPERATORS = {"and", "or", "with"}


@dataclass(frozen=True)
class Package:
    """A package and the SPDX expression of its licence; empty where it declares none that we know."""

    name: str
    version: str
    licence: str


def needed(roots: tuple[str, ...] = (*MEMBERS, "pratique-shared[tracing]")) -> list[Distribution]:
    """Return what is installed of the roots and of all that they need here, the members themselves left out."""
    found: dict[str, Distribution] = {}
    waiting = [Requirement(root) for root in roots]
    seen: set[tuple[str, tuple[str, ...]]] = set()
    while waiting:
        asked = waiting.pop()
        name, extras = canonicalize_name(asked.name), tuple(sorted(asked.extras))
        if (name, extras) in seen:
            continue
        seen.add((name, extras))
        try:
            found[name] = distribution(name)
        except PackageNotFoundError:
            continue  # a marker of another platform
        for line in found[name].requires or ():
            requirement = Requirement(line)
            if requirement.marker is None or any(requirement.marker.evaluate({"extra": e}) for e in ("", *extras)):
                waiting.append(requirement)
    return [found[name] for name in sorted(found) if name not in MEMBERS]


def licence_of(package: Distribution) -> str:
    """Return the SPDX expression of a package, of its classifiers where it has no other."""
    told = package.metadata
    if "License-Expression" in told:
        return told["License-Expression"]
    classifiers = [c.rpartition(" :: ")[2].lower() for c in told.get_all("Classifier") or () if c.startswith("License")]
    known = [WORDS[words] for words in classifiers if words in WORDS]
    text = told["License"].strip() if "License" in told else ""
    if not known or known == ["BSD-3-Clause"]:  # the classifier does not say which BSD; a short text may
        known = [WORDS.get(text.lower(), text)] if re.fullmatch(r"[\w.+() -]{2,60}", text) else known
    return " AND ".join(known)


def refused(expression: str) -> list[str]:
    """Return the parts of an expression that are not allowed; of an `OR`, one side suffices."""
    choices = [re.findall(r"[\w.+-]+", choice) for choice in re.split(r"\bOR\b", expression)]
    per_choice = []
    for names in choices:
        spdx = {name for name in names if name.lower() not in _OPERATORS}
        bad = [name for name in spdx if name not in ALLOWED]
        per_choice.append(sorted(bad) if spdx else ["no licence"])
    return min(per_choice, key=len)


def packages() -> list[Package]:
    """Return every package that the members need, with its licence."""
    return [Package(p.metadata["Name"], p.version, licence_of(p)) for p in needed()]


def main() -> None:
    """Print a table."""
    print("| package | version | licence |\n|---|---|---|")
    for package in packages():
        print(f"| {package.name} | {package.version} | {package.licence} |")


if __name__ == "__main__":
    main()
