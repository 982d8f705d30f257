"""E2AP (O-RAN.WG3.E2AP): told apart from X2AP on the same port by its elements, and which side is the RIC."""

from pratique_ingest.protocols.aper import NotAper, message
from pratique_ingest.protocols.findings import Findings, Sign

SETUP, ERROR, RESET, CONTROL, INDICATION, SERVICE_QUERY, SERVICE_UPDATE = 1, 2, 3, 4, 5, 6, 7
SUBSCRIPTION, SUBSCRIPTION_DELETE, NODE_UPDATE, CONNECTION_UPDATE, DELETE_REQUIRED, REMOVAL = 8, 9, 10, 11, 12, 13
FROM_NODE = frozenset({SETUP, INDICATION, SERVICE_UPDATE, NODE_UPDATE, DELETE_REQUIRED})
FROM_RIC = frozenset({CONTROL, SERVICE_QUERY, SUBSCRIPTION, SUBSCRIPTION_DELETE, CONNECTION_UPDATE})
CAUSE, RIC_REQUEST, RAN_FUNCTION, REQUESTS_TO_REMOVE, TRANSACTION, GLOBAL_NODE, GLOBAL_RIC = 1, 29, 5, 50, 49, 3, 4
FUNCTIONS_ADDED, FUNCTIONS_ACCEPTED, FUNCTIONS_REJECTED = 10, 9, 13
# The first element of each procedure in E2AP 1 to 3; X2AP begins with other ids under the same procedure codes.
FIRST_ELEMENTS = {
    **dict.fromkeys((CONTROL, INDICATION, SUBSCRIPTION, SUBSCRIPTION_DELETE), frozenset({RIC_REQUEST})),
    SETUP: frozenset({TRANSACTION, GLOBAL_NODE, GLOBAL_RIC, FUNCTIONS_ACCEPTED, FUNCTIONS_REJECTED}),
    **dict.fromkeys((NODE_UPDATE, CONNECTION_UPDATE, REMOVAL), frozenset({TRANSACTION})),
    # The first versions had no transaction number here.
    RESET: frozenset({TRANSACTION, CAUSE}),
    ERROR: frozenset({TRANSACTION, CAUSE, RIC_REQUEST, RAN_FUNCTION}),
    **dict.fromkeys((SERVICE_QUERY, SERVICE_UPDATE), frozenset({TRANSACTION, FUNCTIONS_ADDED, FUNCTIONS_ACCEPTED})),
    DELETE_REQUIRED: frozenset({30, REQUESTS_TO_REMOVE}),
}


def e2ap(data: bytes, found: Findings) -> bool:
    """Read one E2AP message; False when the bytes are none or are rather X2AP."""
    try:
        read = message(data)
    except NotAper:
        return False
    first = read.elements[0][0] if read.elements else None
    if first not in FIRST_ELEMENTS.get(read.procedure, frozenset()):
        return False
    found.protocols.add("e2ap")
    if (read.procedure in FROM_NODE and read.initiating) or (read.procedure in FROM_RIC and not read.initiating):
        found.signs(Sign.E2AP_NODE, Sign.E2AP_RIC)
    elif read.procedure in FROM_NODE or read.procedure in FROM_RIC:
        found.signs(Sign.E2AP_RIC, Sign.E2AP_NODE)
    return True
