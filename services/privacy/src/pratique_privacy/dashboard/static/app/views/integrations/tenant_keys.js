// @ts-check
/** Tenant keys: the epochs of the keys that pseudonyms are made with, and the beginning of the next one. */
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
  { name: "epoch", title: "Epoch" },
  { name: "current", title: "Use", show: (/** @type {boolean} */ current) => html`<${GateBadge} verdict=${current ? "in force" : "earlier"} />` },
  { name: "fingerprint", title: "Fingerprint", show: (/** @type {string} */ value) => html`<code>${value}</code>` },
  { name: "created_at", title: "Begun", show: (/** @type {string | null} */ value) => (value ? html`<time datetime=${value} title=${moment(value)}>${age(value)}</time>` : "before there were epochs") },
];

export function TenantKeys() {
  const found = useResource("/tenant-keys?limit=500");
  const [problem, setProblem] = useState(/** @type {any} */ (null));
  const [said, setSaid] = useState("");
  const begin = async () => {
    setProblem(null);
    setSaid("");
    try {
      const made = await send("POST", "/tenant-keys");
      setSaid(`Epoch ${made.epoch} has begun.`);
      found.again();
    } catch (error) {
      setProblem(error);
    }
  };
  const keys = found.body.value?.data;
  if (!keys) return found.problem.value ? html`<${ProblemBox} problem=${found.problem.value} again=${found.again} />` : html`<${Progress} label="Looking" />`;
  return html`<section class="panel" aria-labelledby="tenant-keys"><header><h2 id="tenant-keys">Tenant keys</h2><span class="small" role="status">${said}</span>
      ${may("admin") && html`<${Confirmed} word="Begin the next epoch" sure="Begin it" consequence="Tokens of later releases will no longer join with those of earlier ones, and there is no way back to an earlier key." act=${begin} />`}<${CopyMenu} call=${{ method: "GET", path: "/tenant-keys" }} /></header>
    <p class="small soft">Pseudonyms are made with the key of the newest epoch. Tokens of two releases join where posture and certificate name the same fingerprint, technique, scope and domain. A new epoch ends that for all that is asked for later: begin one after a leak, or so that nobody can follow a subscriber for long. A release that was asked for before keeps its epoch, and certificates stay valid. The keys themselves are never shown.</p>
    <${ProblemBox} problem=${problem} />
    <${DataTable} caption="Tenant keys" columns=${COLUMNS} rows=${keys} keyOf=${(/** @type {any} */ key) => String(key.epoch)} /></section>`;
}
