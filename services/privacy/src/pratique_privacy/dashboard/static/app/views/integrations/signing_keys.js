// @ts-check
/** Signing keys: which key certificates are signed with, and a new one. */
import { send } from "../../api.js";
import { age, moment } from "../../format.js";
import { html, useState } from "../../html.js";
import { Confirmed } from "../../parts/confirmed.js";
import { CopyMenu } from "../../parts/copy_menu.js";
import { GateBadge } from "../../parts/gate_badge.js";
import { ProblemBox } from "../../parts/problem.js";
import { Progress } from "../../parts/progress.js";
import { DataTable } from "../../parts/table.js";
import { useResource } from "../../resource.js";
import { may } from "../../session.js";

const COLUMNS = [
  { name: "number", title: "No." },
  { name: "kid", title: "Key id", show: (/** @type {string} */ kid) => html`<span class="mono broken">${kid}</span>` },
  { name: "signing", title: "Use", show: (/** @type {boolean} */ signing) => html`<${GateBadge} verdict=${signing ? "signs" : "verifies"} />` },
  { name: "created_at", title: "Made", show: (/** @type {string} */ value) => html`<time datetime=${value} title=${moment(value)}>${age(value)}</time>` },
  { name: "links", title: "Public half", show: (/** @type {any} */ links) => html`<a href=${links.pem} download>PEM</a> <a href=${links.jwks} download="jwks.json">JWKS</a>` },
];

export function SigningKeys() {
  const found = useResource("/signing-keys?limit=200");
  const [problem, setProblem] = useState(/** @type {any} */ (null));
  const rotate = async () => {
    setProblem(null);
    try {
      await send("POST", "/signing-keys");
      found.again();
    } catch (error) {
      setProblem(error);
    }
  };
  const keys = found.body.value?.data;
  if (!keys) return found.problem.value ? html`<${ProblemBox} problem=${found.problem.value} again=${found.again} />` : html`<${Progress} label="Looking" />`;
  return html`<section class="panel" aria-labelledby="signing"><header><h2 id="signing">Signing keys</h2>
      ${may("admin") && html`<${Confirmed} word="Sign with a new key" sure="Make it" consequence="Later certificates name the new key; earlier ones stay valid." act=${rotate} />`}<${CopyMenu} call=${{ method: "GET", path: "/signing-keys" }} /></header>
    <p class="small soft">Ed25519. A certificate names its key; who verifies one needs the public half of that key, from here and not from the sender of the certificate.</p>
    <${ProblemBox} problem=${problem} />
    ${keys.length ? html`<${DataTable} caption="Signing keys" columns=${COLUMNS} rows=${keys} keyOf=${(/** @type {any} */ key) => key.kid} />` : html`<p class="soft">None yet: the first certificate makes one.</p>`}</section>`;
}
