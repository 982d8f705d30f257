"""Tenants: made by the operator of the house, never over the API of another tenant."""

from pratique_privacy.audit import AuditLog
from pratique_privacy.evidence.chain import Event
from pratique_privacy.keys import TENANT, KeyRoom

HOUSE = "house"  # who did it, in the log of the tenant


class TenantRefused(Exception):
    """A tenant cannot be made, or is not there: what to do."""

    def __init__(self, detail: str) -> None:
        super().__init__("tenant-refused")
        self.detail = detail


async def add_tenant(keys: KeyRoom, audit: AuditLog, tenant: str) -> str:
    """Make a tenant; return its first admin key, shown this once. Raises `TenantRefused`."""
    if not TENANT.fullmatch(tenant):
        raise TenantRefused("a tenant's name has lower-case letters, digits and hyphens, 63 at most")
    if not await keys.add_tenant(tenant):
        raise TenantRefused("there is such a tenant already: `tenant admin-key` makes another admin key of it")
    return await add_admin_key(keys, audit, tenant)


async def add_admin_key(keys: KeyRoom, audit: AuditLog, tenant: str) -> str:
    """Make an admin key of a tenant, as when all others are lost; raises `TenantRefused` where there is none.

    It is in the log before it is in force.
    """
    if not await keys.has_tenant(tenant):
        raise TenantRefused("there is no such tenant: `tenant list` shows those that there are")
    await audit.record(tenant, Event("asked", role=HOUSE, operation="addAdminKey"))
    key, text = await keys.new_api_key(tenant, "admin", name="made by the operator of the house")
    await audit.record(tenant, Event("answered", role=HOUSE, operation="addAdminKey", object=key.id, status=201))
    return text
