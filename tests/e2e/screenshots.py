"""Screenshots of every view, at two widths, light and dark, of a house with something in it.

python -m tests.e2e.screenshots [folder]
"""

import sys
import tempfile
from pathlib import Path
from typing import get_args

from pratique_local.sample import write_sample
from tests.support.browser import Desk, Scheme, chromium, desk
from tests.support.house import House, house

WIDTHS = (1440, 390)
SETTLE = 2500  # milliseconds until charts are drawn and studies looked up


def furnish(running: House, folder: Path) -> dict[str, str]:
    """Put a capture and two releases of it into a house, one of which passes; return what else to take pictures of."""
    write_sample(folder / "night.pcapng")
    with running.client() as client:
        capture: str = client.push_capture(folder / "night.pcapng", name="night shift", pilot="lab")["id"]
        client.wait_capture(capture)
        releases: list[str] = []
        for policy, bound in (("C4", 3), ("C5", 5)):
            asked = {
                "name": f"night shift {policy}",
                "source": {"capture": capture},
                "policy": policy,
                "recipient": "fl-1",
                "gate": {"k": {"min": bound}},
            }
            releases.append(client.wait_release(client.create_release(asked)["id"])["id"])
    passed, failed = releases
    return {
        "workbench": f"#/workbench?source={capture}",
        "release": f"#/releases/{passed}",
        "comparison": f"#/releases/compare?one={failed}&other={passed}",
    }


def shoot(window: Desk, more: dict[str, str], folder: Path, suffix: str) -> None:
    """Go to each view and take its picture, and to `more` of them."""
    page = window.sign_in()
    hashes = (
        page.get_by_role("navigation", name="Views")
        .get_by_role("link")
        .evaluate_all("(links) => links.map((link) => link.hash)")
    )
    for view, address in ({address.removeprefix("#/"): address for address in hashes} | more).items():
        window.open(address)
        page.wait_for_timeout(SETTLE)
        page.screenshot(path=str(folder / f"{view}-{suffix}.png"), full_page=True)


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "out/screenshots")
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as data, house(Path(data)) as running, chromium() as browser:
        more = furnish(running, Path(data))
        for width in WIDTHS:
            for scheme in get_args(Scheme):
                with desk(browser, running, color_scheme=scheme, width=width) as window:
                    shoot(window, more, folder, f"{width}-{scheme}")
    print(f"the pictures are in {folder}")


if __name__ == "__main__":
    main()
