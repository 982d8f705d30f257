// @ts-check
/** Words: figures, flags and checks of a release as sentences for people who did not write the policy. */
import { number, percent } from "../../format.js";
import { METRICS } from "../../parts/metric.js";

/** @typedef {import("../../parts/metric.js").MetricKind} MetricKind */

/** What a gate may bound beside the figures of a table. @type {Record<string, MetricKind>} */
const FURTHER = {
  granularity: { name: "granularity", title: "Granularity", better: "down", shown: "percent", definition: "Classes divided by records." },
  exact_qi: { name: "exact_qi", title: "Exact-QI adversary", better: "down", shown: "percent", definition: "The mean chance of somebody who knows every quasi-identifier of a record." },
  partial_qi: { name: "partial_qi", title: "Partial-QI adversary", better: "down", shown: "percent", definition: "The mean chance of somebody who has forgotten some of the quasi-identifiers." },
  linkage: { name: "linkage", title: "Linkage adversary", better: "down", shown: "percent", definition: "The mean chance of somebody who has the quasi-identifiers from elsewhere, some of them wrong." },
  "all_columns.uniques": { name: "all_columns.uniques", title: "Unique over all columns", better: "down", shown: "count", definition: "Records that are alone when every released column counts, pseudonyms apart: what somebody who knows all of it could single out." },
  "composition.k": { name: "composition.k", title: "k, joined", better: "up", shown: "count", definition: "k of this release joined with the others of its recipient." },
  "composition.uniques": { name: "composition.uniques", title: "Unique records, joined", better: "down", shown: "count", definition: "Records that are alone once this release is joined with the others of its recipient." },
  "composition.exact_qi": { name: "composition.exact_qi", title: "Exact-QI, joined", better: "down", shown: "percent", definition: "The exact-QI adversary's mean chance with every release of the recipient in hand." },
  "composition.partial_qi": { name: "composition.partial_qi", title: "Partial-QI, joined", better: "down", shown: "percent", definition: "The partial-QI adversary's mean chance with every release of the recipient in hand." },
};

/** The kind of a figure by the name that a gate uses. @param {string} name @returns {MetricKind} */
export function kindOf(name) {
  return METRICS[name] || FURTHER[name] || { name, title: name, better: "none", shown: "number", definition: "" };
}

/** @param {string} name @param {number | null | undefined} value */
export function figureOf(name, value) {
  const { shown } = kindOf(name);
  return shown === "percent" ? percent(value) : number(value, shown === "count" ? 0 : 3);
}

/** A check of the gate in a sentence. @param {{metric: string, op: string, bound: number, value: number | null, status: string}} check */
export function checkWords({ metric, op, bound, value, status }) {
  const asked = `${op === ">=" ? "at least" : "at most"} ${figureOf(metric, bound)}`;
  if (value === null) return `Not computed, so it cannot be shown to be ${asked}; a missing figure is never a pass.`;
  if (status === "pass") return value === bound ? "Exactly on the bound." : `Within the bound by ${gap(metric, value, bound)}.`;
  return `${value > bound ? "Above" : "Below"} the bound by ${gap(metric, value, bound)}: it had to be ${asked}.`;
}

/** @param {string} metric @param {number} value @param {number} bound */
function gap(metric, value, bound) {
  const apart = Math.abs(value - bound);
  return kindOf(metric).shown === "percent" ? `${number(apart * 100, 1)} points` : figureOf(metric, apart);
}

/** What a verdict means. @param {string | null | undefined} verdict @param {boolean} published */
export function verdictWords(verdict, published) {
  if (verdict === "pass") return published ? "Every bound is met. The records have left, under a signed certificate." : "Every bound is met.";
  if (verdict === "fail") return "A bound is broken. No record leaves; change the policy and ask for a new release.";
  if (verdict === "indeterminate") return "A figure that a bound needs is missing, so nothing can be shown. No record leaves.";
  return "The gate has not been held yet.";
}

/** @type {Record<string, string>} */
const FLAGS = {
  empty_release: "Nothing is left after suppression, so there are no figures. Lower the threshold, or generalise first.",
  trivial_t: "t is 0 only because the sensitive value is constant or there is one class: it says nothing about closeness.",
  few_classes: "Fewer than 30 records or 3 classes: every figure rests on little. Pool more records.",
  suppressed_sa: "Sensitive values were suppressed, and * counts as a value of its own in l and t.",
  no_gate: "No bound was asked for, or only such as every table meets: the verdict says nothing about the figures.",
  identifying_insensitive: "A column called insensitive tells most records apart, whatever k says. Drop it, coarsen it, or call it a quasi-identifier.",
  rare_labels_lost: "The rarest labels left with suppression: a model will not learn them. Exempt them, or use a smaller threshold.",
};

/** @param {string} flag */
export function flagWords(flag) {
  return FLAGS[flag] || "No explanation is known for this flag: see docs/science.md.";
}

/** A step of a policy in a line. @param {Record<string, any>} step */
export function stepWords(step) {
  const told = Object.entries(step).filter(([name, value]) => !["op", "column", "table", "taxonomy"].includes(name) && value !== null);
  const parameters = told.map(([name, value]) => `${name} ${value !== null && typeof value === "object" ? Object.values(value).join(" ") : value}`).join(", ");
  return `${step.op}${step.column ? ` on ${step.column}` : ""}${parameters ? ` (${parameters})` : ""}`;
}

/** What records are. @type {Record<string, string>} */
export const UNITS = {
  host: "A record is a host, an IP address: figures count machines, not subscribers.",
  session: "A record is a session: one subscriber at one gNB in five minutes.",
  row: "A record is a row of a table.",
};

/** The policy of a posture as it can be sent again; undefined where a step needs a table that no posture holds. @param {any} posture */
export function policyOf(posture) {
  if (!posture?.steps || posture.steps.some((/** @type {any} */ step) => ["hierarchy", "optimal_generalise"].includes(step.op))) return undefined;
  const steps = posture.steps.map((/** @type {any} */ step) => Object.fromEntries(Object.entries(step).filter(([, value]) => value !== null)));
  return { steps, attributes: posture.attributes };
}

/** @param {string | undefined} status */
export function isOver(status) {
  return status === "completed" || status === "failed" || status === "cancelled";
}
