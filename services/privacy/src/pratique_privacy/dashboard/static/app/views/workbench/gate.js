// @ts-check
/** The gate: bounds that the release must meet, held against the preview as far as it knows the figures. */
import { number } from "../../format.js";
import { html } from "../../html.js";
import { GateBadge } from "../../parts/gate_badge.js";
import { METRICS } from "../../parts/metric.js";
import { held } from "./bench.js";
import { bench, change, preview } from "./desk.js";

const BOUNDS = /** @type {[string, string, "min" | "max", number][]} */ ([
  ["k", "k", "min", 3],
  ["k_rw", "k, record-weighted", "min", 5],
  ["l", "l", "min", 2],
  ["t", "t", "max", 0.5],
  ["ppi", "PPI", "min", 0.5],
  ["uniques", "Unique records", "max", 0],
  ["all_columns.uniques", "Unique over all columns", "max", 0],
  ["exact_reid", "Exact re-identification", "max", 0.3],
  ["partial_qi", "Partial-QI adversary", "max", 0.3],
  ["linkage", "Linkage adversary", "max", 0.3],
  ["survival", "Survival", "min", 0.5],
]);

export function GateEditor() {
  const now = bench.value;
  if (!now) return null;
  const checks = held(now.gate, figureOf);
  const set = (/** @type {string} */ metric, /** @type {"min" | "max"} */ side, /** @type {number | undefined} */ limit) => {
    const { [metric]: former, ...rest } = now.gate;
    const bound = { ...former, [side]: limit };
    if (limit === undefined) delete bound[side];
    change({ ...now, gate: Object.keys(bound).length ? { ...rest, [metric]: bound } : rest }, `gate: ${titleOf(metric)}`);
  };
  const add = (/** @type {any} */ event) => {
    const chosen = BOUNDS.find(([metric]) => metric === event.target.value);
    event.target.value = "";
    if (chosen) set(chosen[0], chosen[2], chosen[3]);
  };
  return html`<section class="panel" aria-label="Gate"><header><h2>Gate</h2><${GateBadge} verdict=${checks.length ? verdictOf(checks) : null} /></header>
    <ul class="plain gate-checks">${checks.map((check) => html`<li key=${check.metric + check.side}>
      <span>${titleOf(check.metric)} ${check.sign}</span>
      <input class="small" type="number" step="any" aria-label="Bound of ${titleOf(check.metric)}" value=${check.limit}
        onInput=${(/** @type {any} */ event) => event.target.value !== "" && set(check.metric, check.side, Number(event.target.value))} />
      <span class="small status ${check.status}"><span aria-hidden="true">${{ pass: "✔", fail: "✖" }[check.status] || "◆"}</span> ${check.status === "indeterminate" ? "known once released" : `${check.status}, ${number(check.value)}`}</span>
      <button type="button" class="quiet small" aria-label="Take the bound of ${titleOf(check.metric)} out" onClick=${() => set(check.metric, check.side, undefined)}>✕</button></li>`)}</ul>
    <div class="row"><select class="small" aria-label="Add a bound to the gate" value="" onChange=${add}><option value="">Add a bound …</option>
      ${BOUNDS.filter(([metric]) => !(metric in now.gate)).map(([metric, title]) => html`<option key=${metric} value=${metric}>${title}</option>`)}</select>
      ${!checks.length && html`<span class="small">No bound: nothing but the floor of your house holds the release back.</span>`}</div>
  </section>`;
}

/** @param {string} metric */
function figureOf(metric) {
  const found = preview.value;
  if (!found) return null;
  if (metric === "survival") return found.records.survival;
  if (metric === "all_columns.uniques") return found.all_columns.uniques;
  if (metric === "exact_qi") return found.after.metrics.exact_reid;
  return found.after.metrics[metric];
}

/** @param {{status: string}[]} checks */
function verdictOf(checks) {
  if (checks.some((check) => check.status === "fail")) return "fail";
  return checks.every((check) => check.status === "pass") ? "pass" : "indeterminate";
}

/** @param {string} metric */
function titleOf(metric) {
  return BOUNDS.find(([name]) => name === metric)?.[1] || METRICS[metric]?.title || metric;
}
