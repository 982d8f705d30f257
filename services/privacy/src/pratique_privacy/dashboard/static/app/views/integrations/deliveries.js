// @ts-check
/** Deliveries of a webhook: how each try went, and one sent again. */
import { send } from "../../api.js";
import { age, moment, number, plural } from "../../format.js";
import { html, useState } from "../../html.js";
import { CopyMenu } from "../../parts/copy_menu.js";
import { GateBadge } from "../../parts/gate_badge.js";
import { ProblemBox } from "../../parts/problem.js";
import { DataTable } from "../../parts/table.js";
import { useResource } from "../../resource.js";
import { href } from "../../router.js";

/** @param {{id: string}} props */
export function Deliveries({ id }) {
  const path = `/webhooks/${id}/deliveries`;
  const found = useResource(`${path}?limit=100`, { every: 3000 });
  const [problem, setProblem] = useState(/** @type {any} */ (null));
  const rows = found.body.value?.data;
  const again = async (/** @type {string} */ delivery) => {
    setProblem(null);
    try {
      await send("POST", `${path}/${delivery}/redeliver`);
      found.again();
    } catch (error) {
      setProblem(error);
    }
  };
  const columns = [
    { name: "event", title: "Event" },
    { name: "subject", title: "Of", show: (/** @type {string} */ subject) => html`<a class="mono" href=${href(subject.startsWith("rel_") ? "releases" : "captures", [subject])}>…${subject.slice(-6)}</a>` },
    { name: "status", title: "Status", show: (/** @type {string} */ status) => html`<${GateBadge} verdict=${status} />` },
    { name: "tries", title: "Tries", order: (/** @type {any} */ row) => row.tries.length, show: (/** @type {any[]} */ tries) => triesWords(tries) },
    { name: "next_try_at", title: "Next try", show: (/** @type {string | null} */ value) => (value ? moment(value) : "–") },
    { name: "created_at", title: "Owed since", show: (/** @type {string} */ value) => html`<time datetime=${value} title=${moment(value)}>${age(value)}</time>` },
    { name: "id", title: "Again", show: (/** @type {string} */ delivery) => html`<button type="button" class="small" onClick=${() => again(delivery)}>Redeliver</button>` },
  ];
  return html`<section class="panel" aria-labelledby="deliveries"><header><h2 id="deliveries">Deliveries</h2><${CopyMenu} call=${{ method: "GET", path }} /></header>
    <${ProblemBox} problem=${problem || found.problem.value} />
    ${rows && (rows.length ? html`<${DataTable} caption="Deliveries" columns=${columns} rows=${rows} keyOf=${(/** @type {any} */ row) => row.id} />` : html`<p class="soft">Nothing has happened since it was made. Ask for a release, and its verdict is told here.</p>`)}</section>`;
}

/** @param {any[]} tries */
function triesWords(tries) {
  const last = tries.at(-1);
  if (!last) return "none yet";
  const how = last.status ? `answered ${last.status}` : last.error || last.result;
  return html`${plural(tries.length, "try", "tries")}, last ${how} <span class="soft">in ${number(last.milliseconds)} ms</span>`;
}
