"""Parameters of the address: those that an operation does not know are refused, or a typing error would go unseen."""

from collections import Counter
from typing import get_origin

from fastapi import Request
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute

from pratique_shared.contracts.problems import Unprocessable


async def known_parameters(request: Request) -> None:
    """Raise `Unprocessable` (`parameter-unknown`, `parameter-twice`) for what the operation would not look at.

    What was sent is not repeated: anything may stand there, an identifier too.
    """
    route: APIRoute = request.scope["route"]
    known = _known(route.dependant)
    sent = Counter(name for name, _ in request.query_params.multi_items())
    if not sent.keys() <= known.keys():
        names = ", ".join(sorted(known))
        detail = f"The parameters of this operation are: {names}." if names else "This operation has no parameters."
        raise Unprocessable("parameter-unknown", f"The address has a parameter that is not known here. {detail}")
    twice = sorted(name for name, count in sent.items() if count > 1 and not known[name])
    if twice:
        raise Unprocessable("parameter-twice", f"Give each parameter once: {', '.join(twice)}.")


def _known(dependant: Dependant) -> dict[str, bool]:
    """Return the parameters of an operation and of what it depends on, and whether each may stand there again."""
    found = {field.alias: get_origin(field.field_info.annotation) is tuple for field in dependant.query_params}
    for inner in dependant.dependencies:
        found |= _known(inner)
    return found
