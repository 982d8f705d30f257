// @ts-check
/** The bench: what is on it (source, classes, steps, gate), as a value; and the changes that can be made to it. Pure. */
import { operationOf, TABLE_OPERATIONS } from "./operations.js";

/**
 * @typedef {"identifier" | "quasi_identifier" | "sensitive" | "insensitive" | "drop"} ColumnClass
 * @typedef {{column: string, class: ColumnClass, type: string, reason: string, rule: string, distinct: number, step: any}} Advice
 * @typedef {{source: string, unit: string, pilot: string | null, classes: Record<string, ColumnClass>, steps: any[],
 *   bins: Record<string, any>, ordered: Record<string, any>, ppi: {k_target: number, l_target: number}, gate: Record<string, {min?: number, max?: number}>}} Bench
 */

/** @type {[ColumnClass, string][]} */
export const CLASSES = [
  ["identifier", "Identifier"],
  ["quasi_identifier", "Quasi-identifier"],
  ["sensitive", "Sensitive"],
  ["insensitive", "Other"],
  ["drop", "Drop"],
];
const LISTS = /** @type {Record<string, ColumnClass>} */ ({ identifiers: "identifier", quasi_identifiers: "quasi_identifier", sensitive: "sensitive", insensitive: "insensitive", drop: "drop" });

/** A bench as the suggested classes and steps lay it out. @param {string} source @param {string} unit @param {string | null} pilot @param {Advice[]} advice @returns {Bench} */
export function laidOut(source, unit, pilot, advice) {
  const steps = advice.filter((column) => column.class !== "drop" && column.step).map((column) => scoped(column.step, pilot));
  const classes = Object.fromEntries(advice.map((column) => [column.column, column.class]));
  return { source, unit, pilot, classes, steps, bins: {}, ordered: {}, ppi: { k_target: 5, l_target: 2 }, gate: { k: { min: 2 } } };
}

/** The bench that an address tells, if it is one: every column of the source has a class, no other column is named. @param {any} found @param {Advice[]} advice @returns {Bench | null} */
export function readBench(found, advice) {
  const plain = (/** @type {any} */ value) => typeof value === "object" && value !== null && !Array.isArray(value);
  const { unit = "host", pilot = null, classes, steps, bins = {}, ordered = {}, ppi, gate } = found;
  const named = [classes, bins, ordered, ppi, gate].every(plain) && Object.values(gate).every(plain);
  if (!named || !Array.isArray(steps) || !steps.every((step) => plain(step) && typeof step.op === "string")) return null;
  const known = (/** @type {Advice} */ column) => (Object.hasOwn(classes, column.column) && CLASSES.some(([name]) => name === classes[column.column]) ? classes[column.column] : column.class);
  const told = { k_target: Number(ppi.k_target) || 5, l_target: Number(ppi.l_target) || 2 };
  return { source: found.source, unit, pilot, classes: Object.fromEntries(advice.map((column) => [column.column, known(column)])), steps, bins, ordered, ppi: told, gate };
}

/** Pseudonyms within a pilot need one: without, they hold for the one release. @param {any} step @param {string | null} pilot */
function scoped(step, pilot) {
  return step.scope === "per_pilot" && !pilot ? { ...step, scope: "per_run" } : step;
}

/** @param {Bench} bench */
export function attributesOf(bench) {
  /** @type {Record<string, any>} */
  const lists = Object.fromEntries(Object.keys(LISTS).map((list) => [list, []]));
  for (const [list, name] of Object.entries(LISTS)) lists[list] = Object.keys(bench.classes).filter((column) => bench.classes[column] === name);
  const kept = (/** @type {Record<string, any>} */ about) => Object.fromEntries(Object.entries(about).filter(([column]) => lists.sensitive.includes(column)));
  return { ...lists, sensitive_bins: kept(bench.bins), ordered: kept(bench.ordered) };
}

/** @param {Bench} bench */
export function sourceOf(bench) {
  return bench.source.startsWith("dst_") ? { dataset: bench.source } : { capture: bench.source, unit: bench.unit };
}

/** What the API is asked, but for what preview, release and recommendation have of their own. @param {Bench} bench */
export function requestOf(bench) {
  return { source: sourceOf(bench), attributes: attributesOf(bench), policy: { steps: bench.steps }, ppi: bench.ppi };
}

/** @param {Bench} bench @param {string} column @param {ColumnClass} chosen @param {Advice | undefined} advice @returns {Bench} */
export function reclassed(bench, column, chosen, advice) {
  const classes = { ...bench.classes, [column]: chosen };
  const others = bench.steps.filter((step) => step.column !== column && step.exempt?.column !== column);
  const own = bench.steps.filter((step) => step.column === column);
  if (chosen === "drop") return { ...bench, classes, steps: others };
  const needed = advice?.step || (chosen === "identifier" ? { column, op: "hmac", ...operationOf("hmac").start } : null);
  if (own.length || !needed || bench.classes[column] !== "drop" && chosen !== "identifier") return { ...bench, classes };
  return withStep({ ...bench, classes }, scoped(needed, bench.pilot));
}

/** Add a step where suppression finds its result: before thresholds on its column and steps on the table. @param {Bench} bench @param {any} step @returns {Bench} */
export function withStep(bench, step) {
  const late = step.op === "threshold" || step.op in TABLE_OPERATIONS;
  const before = (/** @type {any} */ other) => other.op in TABLE_OPERATIONS || (other.op === "threshold" && other.column === step.column);
  const place = late && step.op !== "threshold" ? -1 : bench.steps.findIndex(late ? (other) => other.op in TABLE_OPERATIONS : before);
  const at = place < 0 ? bench.steps.length : place;
  return { ...bench, steps: [...bench.steps.slice(0, at), step, ...bench.steps.slice(at)] };
}

/** A step with the defaults of its operation. @param {string} op @param {string | undefined} column @param {string | null} pilot */
export function freshStep(op, column, pilot) {
  return scoped({ ...(column ? { column } : {}), op, ...operationOf(op).start }, pilot);
}

/** @param {Bench} bench @param {number} place @param {any} step @returns {Bench} */
export function exchanged(bench, place, step) {
  return { ...bench, steps: bench.steps.map((other, at) => (at === place ? step : other)) };
}

/** @param {Bench} bench @param {number} place @returns {Bench} */
export function without(bench, place) {
  return { ...bench, steps: bench.steps.filter((_, at) => at !== place) };
}

/** Let a step run one place earlier (-1) or later (1). @param {Bench} bench @param {number} place @param {number} by @returns {Bench} */
export function moved(bench, place, by) {
  const steps = [...bench.steps];
  const [step] = steps.splice(place, 1);
  steps.splice(place + by, 0, step);
  return { ...bench, steps };
}

/** Take a policy of the shelf: its steps, and its attributes, gate and targets where it brings any. @param {Bench} bench @param {any} policy @returns {Bench} */
export function under(bench, policy) {
  const clean = policy.steps.map((/** @type {any} */ step) => Object.fromEntries(Object.entries(step).filter(([, value]) => value !== null)));
  const next = { ...bench, steps: clean, gate: policy.gate || bench.gate, ppi: policy.ppi ? { k_target: policy.ppi.k_target, l_target: policy.ppi.l_target } : bench.ppi };
  if (!policy.attributes) return next;
  return { ...next, ...classesFrom(policy.attributes, Object.keys(bench.classes)) };
}

/** @param {any} attributes @param {string[]} columns; those that no list names are dropped */
function classesFrom(attributes, columns) {
  /** @type {Record<string, ColumnClass>} */
  const classes = Object.fromEntries(columns.map((column) => [column, "drop"]));
  for (const [list, name] of Object.entries(LISTS)) for (const column of attributes[list] || []) if (column in classes) classes[column] = name;
  return { classes, bins: attributes.sensitive_bins || {}, ordered: attributes.ordered || {} };
}

/** Make the change that a suggestion tells as JSON Patch (RFC 6902: add, replace, remove). @param {Bench} bench @param {{op: string, path: string, value?: any}[]} patch @returns {Bench} */
export function patched(bench, patch) {
  const document = structuredClone({ attributes: attributesOf(bench), policy: { steps: bench.steps } });
  for (const { op, path, value } of patch) {
    const names = path.split("/").slice(1).map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~"));
    const last = /** @type {string} */ (names.pop());
    /** @type {any} */
    let place = document;
    for (const name of names) place = place[name];
    if (Array.isArray(place)) {
      const at = last === "-" ? place.length : Number(last);
      if (op === "add") place.splice(at, 0, value);
      else if (op === "replace") place[at] = value;
      else place.splice(at, 1);
    } else if (op === "remove") delete place[last];
    else place[last] = value;
  }
  return { ...bench, steps: document.policy.steps, ...classesFrom(document.attributes, Object.keys(bench.classes)) };
}

/** Hold the gate's bounds against figures; a missing figure is no pass. @param {Bench["gate"]} gate @param {(metric: string) => number | null | undefined} figure */
export function held(gate, figure) {
  return Object.entries(gate).flatMap(([metric, bound]) =>
    /** @type {["min" | "max", string][]} */ ([["min", "≥"], ["max", "≤"]])
      .filter(([side]) => bound[side] !== undefined && bound[side] !== null)
      .map(([side, sign]) => {
        const value = figure(metric);
        const limit = /** @type {number} */ (bound[side]);
        const known = typeof value === "number";
        const status = !known ? "indeterminate" : (side === "min" ? value >= limit : value <= limit) ? "pass" : "fail";
        return { metric, side, sign, limit, value, status };
      }),
  );
}
