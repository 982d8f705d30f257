"""Settings of the privacy service, and what is made of them; a wrong one ends the process with what to do."""

from datetime import timedelta
from ipaddress import IPv4Network, IPv6Network
from pathlib import Path

from pydantic import Field, SecretStr

from pratique_privacy.http.forwarding import Front, networks, public_address
from pratique_privacy.http.rates import CALLER, FAILURE, Buckets, Rate, Rates
from pratique_privacy.ics.terms import IcsTerms
from pratique_privacy.identity.key_set import KeySet, from_address, from_file
from pratique_privacy.identity.terms import ROLE_CLAIMS, Claims, TokenTerms, check_key_address
from pratique_privacy.outbound.addresses import Allowed
from pratique_privacy.retention.rule import Keep
from pratique_shared.runtime.settings import Key, Settings

FIRST_TENANT = "operator"


class PrivacySettings(Settings):
    """What privacy reads beyond the common settings: the master key, where to listen, how many table children."""

    master_key: Key
    host: str = "127.0.0.1"
    port: int = 8080
    table_processes: int = 1
    study_processes: int = 1  # a search of a minute holds up no release
    api_table_processes: int = 2  # a slow preview leaves one for those who ask for releases
    admin_key_file: Path | None = None
    public_url: str = ""  # as our users reach us; links in webhooks begin with it
    webhook_allow: str = ""  # names and networks that webhooks may go to beside public addresses
    ics_url: str = ""
    ics_callback_url: str = ""  # as the coordinator reaches us; else the public one
    ics_token: SecretStr | None = None  # what the coordinator sends with its callbacks
    ics_tenant: str = FIRST_TENANT
    ics_recipient: str = "ics"
    ics_allow: str = ""  # names and networks that consumers of the coordinator may be at
    trusted_proxies: str = ""  # networks whose X-Forwarded and Forwarded headers are believed
    rate: float = Field(default=CALLER.per_second, ge=0, allow_inf_nan=False)  # requests a second of one caller
    rate_burst: int = Field(default=CALLER.burst, ge=1)
    failure_rate: float = Field(default=FAILURE.per_second, ge=0, allow_inf_nan=False)  # of one address
    failure_burst: int = Field(default=FAILURE.burst, ge=1)
    metrics_token: SecretStr | None = None  # what a scraper of /metrics sends as its bearer
    api_waiting: int = Field(default=256, ge=1)  # requests that wait for a table child
    keep_captures_days: int = Field(default=0, ge=0, le=36_500)  # 0: until somebody deletes it
    keep_datasets_days: int = Field(default=0, ge=0, le=36_500)
    keep_releases_days: int = Field(default=0, ge=0, le=36_500)
    jwt_issuer: str = ""  # these four together, with one of the two places of keys
    jwt_audience: str = ""
    jwt_jwks_url: str = ""
    jwt_jwks_file: str = ""
    jwt_role_claim: str = " ".join(ROLE_CLAIMS)
    jwt_role_prefix: str = Claims.role_prefix
    jwt_tenant_claim: str = Claims.tenant
    jwt_recipient_claim: str = Claims.recipient


def allowed_by(name: str, text: str) -> Allowed:
    """Read a setting that opens addresses; ends the process where it cannot be read."""
    try:
        return Allowed.parse(text)
    except ValueError as error:
        raise SystemExit(f"PRATIQUE_{name} lists networks, addresses and names: {type(error).__name__}") from None


def ics_terms(settings: PrivacySettings) -> IcsTerms | None:
    """Return the terms with the coordinator; None where no address of one is set."""
    if not settings.ics_url:
        return None
    callback = settings.ics_callback_url or settings.public_url
    if not callback:
        raise SystemExit("PRATIQUE_ICS_CALLBACK_URL is missing: our own address, as the coordinator reaches it")
    return IcsTerms(
        url=settings.ics_url.rstrip("/"),
        callback=callback.rstrip("/"),
        tenant=settings.ics_tenant,
        recipient=settings.ics_recipient,
        token=secret_text(settings.ics_token),
        allowed=allowed_by("ICS_ALLOW", settings.ics_allow),
    )


def secret_text(secret: SecretStr | None) -> str | None:
    """Return a secret as it is compared; None where it is not set or empty."""
    return (secret.get_secret_value().strip() or None) if secret is not None else None


def front_of(settings: PrivacySettings) -> Front:
    """Return what stands in front of the API."""
    try:
        public = public_address(settings.public_url) if settings.public_url else ""
    except ValueError:
        text = "PRATIQUE_PUBLIC_URL is the address at which users reach us, as https://gateway.example.com/pratique"
        raise SystemExit(text) from None
    return Front(public, _proxies(settings.trusted_proxies))


def _proxies(text: str) -> tuple[IPv4Network | IPv6Network, ...]:
    try:
        return networks(text)
    except ValueError:
        raise SystemExit("PRATIQUE_TRUSTED_PROXIES lists networks and addresses, as in 10.0.0.0/8, 192.0.2.7") from None


def keep_of(settings: PrivacySettings) -> Keep:
    """Return for how long each kind is kept."""
    days = (settings.keep_captures_days, settings.keep_datasets_days, settings.keep_releases_days)
    return Keep(*(timedelta(days=each) if each else None for each in days))


def rates_of(settings: PrivacySettings) -> Rates:
    """Return the buckets of the API."""
    return Rates(
        Buckets("caller", Rate(settings.rate, settings.rate_burst)),
        Buckets("failures", Rate(settings.failure_rate, settings.failure_burst)),
    )


def token_terms(settings: PrivacySettings) -> TokenTerms | None:
    """Return the terms with the identity provider; None where none is set, ends the process where half of them are."""
    places = (settings.jwt_jwks_url, settings.jwt_jwks_file)
    if not any((settings.jwt_issuer, settings.jwt_audience, *places)):
        return None
    if not settings.jwt_issuer:
        raise SystemExit("PRATIQUE_JWT_ISSUER is missing: the `iss` of the tokens, to the letter")
    if not settings.jwt_audience:
        raise SystemExit("PRATIQUE_JWT_AUDIENCE is missing: what tokens for this service have in `aud`")
    if all(places) or not any(places):
        raise SystemExit("set one of PRATIQUE_JWT_JWKS_URL and PRATIQUE_JWT_JWKS_FILE: where the issuer's keys are")
    claims = Claims(
        roles=tuple(settings.jwt_role_claim.replace(",", " ").split()),
        role_prefix=settings.jwt_role_prefix,
        tenant=settings.jwt_tenant_claim,
        recipient=settings.jwt_recipient_claim,
    )
    if not claims.roles or not claims.tenant or not claims.recipient:
        raise SystemExit("PRATIQUE_JWT_ROLE_CLAIM, _TENANT_CLAIM and _RECIPIENT_CLAIM each name a claim")
    return TokenTerms(settings.jwt_issuer, tuple(settings.jwt_audience.replace(",", " ").split()), claims)


def key_set_of(settings: PrivacySettings, agent: str) -> KeySet:
    """Return the keys of the identity provider, none of them fetched yet."""
    if settings.jwt_jwks_file:
        return KeySet(from_file(Path(settings.jwt_jwks_file)))
    try:
        check_key_address(settings.jwt_jwks_url)
    except ValueError:
        text = (
            "PRATIQUE_JWT_JWKS_URL is https, or http to this machine or a container beside it (a name without points)"
        )
        raise SystemExit(text) from None
    return KeySet(from_address(settings.jwt_jwks_url, agent))
