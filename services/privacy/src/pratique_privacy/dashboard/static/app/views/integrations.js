// @ts-check
/** Integrations: the coordinator, webhooks, keys and the floor of every gate, each for who may see it. */
import { html } from "../html.js";
import { Tabs } from "../parts/tabs.js";
import { go, href, route } from "../router.js";
import { may } from "../session.js";
import { ApiKeys } from "./integrations/api_keys.js";
import { Coordinator } from "./integrations/coordinator.js";
import { GateFloor } from "./integrations/gate_floor.js";
import { SigningKeys } from "./integrations/signing_keys.js";
import { TenantKeys } from "./integrations/tenant_keys.js";
import { Webhooks } from "./integrations/webhooks.js";

const PARTS = [
  { name: "ics", title: "O-RAN ICS", roles: ["operator"], Part: Coordinator },
  { name: "webhooks", title: "Webhooks", roles: ["operator"], Part: Webhooks },
  { name: "api-keys", title: "API keys", roles: ["admin"], Part: ApiKeys },
  { name: "signing-keys", title: "Signing keys", roles: ["operator", "auditor"], Part: SigningKeys },
  { name: "tenant-keys", title: "Tenant keys", roles: ["operator", "auditor"], Part: TenantKeys },
  { name: "gate-floor", title: "Gate floor", roles: ["operator", "auditor"], Part: GateFloor },
];

export function Integrations() {
  const mine = PARTS.filter((part) => may(...part.roles));
  const { name, Part } = mine.find((part) => part.name === route.value.rest[0]) || mine[0];
  return html`<h1>Integrations</h1>
    <${Tabs} label="Integrations" tabs=${mine} chosen=${name} choose=${(/** @type {string} */ next) => go(href("integrations", [next]))}>
      <div class="integration" key=${name}><${Part} /></div><//>`;
}
