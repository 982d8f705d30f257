// @ts-check
/** The coordinator: whether this producer is registered with the O-RAN ICS, and what its consumers were sent. */
import { age, asNumber, moment } from "../../format.js";
import { html } from "../../html.js";
import { CopyMenu } from "../../parts/copy_menu.js";
import { Empty } from "../../parts/empty.js";
import { Facts } from "../../parts/facts.js";
import { GateBadge } from "../../parts/gate_badge.js";
import { ProblemBox } from "../../parts/problem.js";
import { Progress } from "../../parts/progress.js";
import { DataTable } from "../../parts/table.js";
import { useResource } from "../../resource.js";

const COLUMNS = [
  { name: "id", title: "Job", show: (/** @type {string} */ value) => html`<span class="mono">${value}</span>` },
  { name: "kind", title: "Info type", show: (/** @type {string} */ value) => html`<span class="mono">${value}</span>` },
  { name: "owner", title: "Owner" },
  { name: "since", title: "Since", show: (/** @type {string} */ value) => html`<time datetime=${value} title=${moment(value)}>${age(value)}</time>` },
  { name: "owed", title: "Items owed", number: true, show: asNumber },
  { name: "delivered", title: "Delivered", number: true, show: asNumber },
  { name: "failed_tries", title: "Failed tries", number: true, show: asNumber },
  { name: "dropped", title: "Dropped", number: true, show: asNumber },
];

export function Coordinator() {
  const found = useResource("/integrations/ics", { every: 5000 });
  const ics = found.body.value;
  if (!ics) return found.problem.value ? html`<${ProblemBox} problem=${found.problem.value} again=${found.again} />` : html`<${Progress} label="Looking" />`;
  if (!ics.configured)
    return html`<${Empty} title="No coordinator is configured"><p>Pratique can be a data producer of the O-RAN Information Coordination Service: consumers then subscribe to postures and released profiles there. Set <code>PRATIQUE_ICS_URL</code> and start it again; docs/integrations.md has the rest.</p><//>`;
  const { registered, error, checked_at, registrations, refused_jobs } = ics.registration;
  return html`<section class="panel" aria-labelledby="registration"><header><h2 id="registration">Registration</h2><${CopyMenu} call=${{ method: "GET", path: "/integrations/ics" }} /></header>
      <div class="row"><${GateBadge} verdict=${registered === null ? "running" : registered ? "registered" : "not registered"} />${checked_at && html`<span class="small soft">looked ${age(checked_at)}, at ${moment(checked_at)}</span>`}</div>
      ${error && html`<p class="note"><strong>The coordinator did not take the registration.</strong> <span class="small">Code <code>${error}</code>. It is tried again by itself.</span></p>`}
      <${Facts} facts=${[["Producer", html`<span class="mono">${ics.producer}</span>`], ["Recipient of its releases", ics.recipient || "–"], ["Registered", times(registrations)], ["Jobs refused", asNumber(refused_jobs)]]} />
      <dl class="pairs"><dt>Info types</dt><dd>${ics.types.map((/** @type {string} */ type) => html`<code key=${type}>${type}</code> `)}</dd>
        ${Object.entries(ics.callbacks).map(([name, url]) => html`<dt>${name.replaceAll("_", " ")}</dt><dd><code>${url}</code></dd>`)}</dl></section>
    <section class="panel" aria-labelledby="jobs"><h2 id="jobs">Jobs of consumers</h2>
      ${ics.jobs.length ? html`<${DataTable} caption="Jobs of consumers" columns=${COLUMNS} rows=${ics.jobs.map((/** @type {any} */ job) => ({ ...job, ...job.counts }))} keyOf=${(/** @type {any} */ job) => job.id} />`
        : html`<p class="soft">None yet. A consumer makes one at the coordinator, naming one of the info types above.</p>`}</section>`;
}

/** @param {number | null} count */
function times(count) {
  return count === null ? "–" : count === 1 ? "once" : `${asNumber(count)} times`;
}
