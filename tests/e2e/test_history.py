"""Back and forward: a view that is left takes its charts with it, however soon it is left."""

from tests.support.browser import Desk
from tests.support.released import Released

ROUNDS = 20
PAUSES = (0, 30, 90, 200)  # milliseconds: before Vega is asked, while it draws, and after


def test_going_back_and_forward_quickly_over_charts_breaks_none_of_them(
    window: Desk, capture: str, released: Released, study: dict[str, str]
) -> None:
    charts = [
        f"#/captures/{capture}",
        f"#/risk/{released.raw}",
        f"#/attacks/{released.suppressed}",
        f"#/explore/sweeps/{study['sweeps']}",
        f"#/releases/compare?one={released.raw}&other={released.suppressed}",
    ]
    page = window.sign_in()
    for address in charts:
        page.evaluate("(address) => { location.hash = address; }", address)
        page.locator("main canvas").first.wait_for()
    for turn in range(ROUNDS):
        for step in ("back", "forward") if turn % 5 else ("back", "back", "forward", "forward"):
            page.evaluate(f"history.{step}()")
            page.mouse.move(500 + 20 * turn, 300 + 15 * turn)
            page.wait_for_timeout(PAUSES[turn % len(PAUSES)])
    page.evaluate("(address) => { location.hash = address; }", charts[1])
    page.locator("main canvas").first.wait_for()
    sizes = page.locator("main .canvas").evaluate_all("(places) => places.map((place) => place.childElementCount > 0)")
    assert all(sizes)
    window.check()
