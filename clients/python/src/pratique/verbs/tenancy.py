"""The tenant's own: policies, the floor of every gate, webhooks, keys, and the audit log."""

from pratique.exchange import Json, Params
from pratique.plan import Plan
from pratique.verb import Listing, Verb
from pratique.verbs.files import Placed
from pratique.verbs.requests import create, delete, get, once, post, put, segment


class Tenancy:
    """The verbs of what a tenant keeps."""

    @Listing
    def policies(self) -> tuple[str, Params]:
        """All policies, the built-in ones included."""
        return "/policies", {}

    @Verb
    def policy(self, name: str) -> Plan[Json]:
        """Return a policy by its name."""
        return get(f"/policies/{segment(name)}")

    @Verb
    def put_policy(self, name: str, body: Json) -> Plan[Json]:
        """Store `{steps, attributes?, gate?, attacks?, ppi?}` as the next version of a policy."""
        return put(f"/policies/{segment(name)}", body)

    @Verb
    def gate_floor(self) -> Plan[Json]:
        """Return `{gate}`, the bounds that every release of the tenant is held to."""
        return get("/gate-floor")

    @Verb
    def put_gate_floor(self, gate: Json) -> Plan[Json]:
        """Bound every later release of the tenant (admin); a request can only tighten it."""
        return put("/gate-floor", {"gate": gate})

    @Verb
    def create_webhook(self, body: Json, idempotency_key: str | None = None) -> Plan[Json]:
        """Let `{url, events?, recipient?, name?}` hear of what happens; `secret` in the answer is shown this once."""
        return create("/webhooks", body, idempotency_key)

    @Listing
    def webhooks(self) -> tuple[str, Params]:
        """All webhooks, newest first."""
        return "/webhooks", {}

    @Verb
    def delete_webhook(self, webhook: str) -> Plan[None]:
        """Delete a webhook; what is still owed to it is dropped."""
        return delete(f"/webhooks/{segment(webhook)}")

    @Listing
    def deliveries(self, webhook: str) -> tuple[str, Params]:
        """What a webhook was sent, newest first, with every try."""
        return f"/webhooks/{segment(webhook)}/deliveries", {}

    @Verb
    def redeliver(self, webhook: str, delivery: str) -> Plan[Json]:
        """Send a delivery once more, at once."""
        return post(f"/webhooks/{segment(webhook)}/deliveries/{segment(delivery)}/redeliver")

    @Verb
    def me(self) -> Plan[Json]:
        """Return `{key, tenant, role, recipient}`: what the key of this client may do."""
        return get("/me")

    @Listing
    def api_keys(self) -> tuple[str, Params]:
        """The API keys of the tenant, newest first, without their secrets (admin)."""
        return "/api-keys", {}

    @Verb
    def create_api_key(self: Placed, body: Json) -> Plan[Json]:
        """Make a key for `{role, recipient?, name?, expires_at?}` (admin); `key` in the answer is shown this once.

        It is asked for once only: after an answer that was lost, look for a key that nobody has, and revoke it.
        """
        return once(self.url, "/api-keys", body)

    @Verb
    def revoke_api_key(self, key: str) -> Plan[None]:
        """Revoke a key of the tenant by its id: it ends within seconds (admin)."""
        return delete(f"/api-keys/{segment(key)}")

    @Listing
    def audit(self) -> tuple[str, Params]:
        """The audit log, newest first (auditor, admin)."""
        return "/audit", {}

    @Verb
    def check_audit(self) -> Plan[Json]:
        """Return `{intact, entries, chains, breaks}`: whether every entry holds against its chain."""
        return get("/audit/check")
