// @ts-check
/** The operations of a policy: what they are called, on which kinds of column they act, and their parameters. */

/**
 * @typedef {{name: string, title: string, kind: "whole" | "number" | "choice" | "json", min?: number, max?: number, step?: number, options?: [string, string][], optional?: boolean}} Parameter
 * @typedef {{title: string, group: string, kinds: string[], start: Record<string, any>, parameters: Parameter[]}} Operation
 */

const TEXTS = ["text", "list"];
const CODED = ["text", "list", "integer"];
const NUMBERS = ["text", "integer", "number", "list"];
const SINGLE = ["text", "integer", "number"];
const EVERY = ["text", "integer", "number", "boolean", "list"];
/** @type {Parameter} */
const SCOPE = { name: "scope", title: "same", kind: "choice", options: [["per_pilot", "within a pilot"], ["deterministic", "everywhere"], ["per_run", "in this release only"]] };

/** @type {Record<string, Operation>} */
export const OPERATIONS = {
  hmac: { title: "Pseudonym (HMAC)", group: "Pseudonymise", kinds: CODED, start: { bits: 128, scope: "per_pilot" }, parameters: [SCOPE, { name: "bits", title: "bits", kind: "whole", min: 48, max: 256, step: 4 }] },
  token: { title: "Random token", group: "Pseudonymise", kinds: CODED, start: {}, parameters: [] },
  crypto_pan: { title: "Prefix-preserving address", group: "Pseudonymise", kinds: TEXTS, start: { scope: "per_pilot" }, parameters: [SCOPE] },
  ipv4_shaped: { title: "IPv4-shaped pseudonym", group: "Pseudonymise", kinds: TEXTS, start: { scope: "per_pilot" }, parameters: [SCOPE] },
  salted_hash: { title: "Salted hash (not keyed)", group: "Pseudonymise", kinds: CODED, start: { acknowledge_enumerable: false }, parameters: [{ name: "acknowledge_enumerable", title: "Guesses can be tested", kind: "choice", options: [["false", "not accepted"], ["true", "accepted"]] }] },
  ip_prefix: { title: "Network of the address", group: "Generalise", kinds: TEXTS, start: { v4: 24, v6: 64 }, parameters: [{ name: "v4", title: "IPv4 /", kind: "whole", min: 0, max: 32 }, { name: "v6", title: "IPv6 /", kind: "whole", min: 0, max: 128 }] },
  bin: { title: "Bins of one width", group: "Generalise", kinds: NUMBERS, start: { width: 5 }, parameters: [{ name: "width", title: "width", kind: "number", min: 0, step: 0.1 }] },
  quantile: { title: "Quantile buckets", group: "Generalise", kinds: SINGLE, start: { buckets: 4 }, parameters: [{ name: "buckets", title: "buckets", kind: "whole", min: 2, max: 1000 }] },
  round: { title: "Round", group: "Generalise", kinds: NUMBERS, start: { digits: 0 }, parameters: [{ name: "digits", title: "decimals", kind: "whole", min: -12, max: 12 }] },
  top_bottom: { title: "Hold between bounds", group: "Generalise", kinds: NUMBERS, start: { percentile: 99 }, parameters: [{ name: "low", title: "low", kind: "number", optional: true }, { name: "high", title: "high", kind: "number", optional: true }, { name: "percentile", title: "or percentile", kind: "number", min: 0, max: 100, optional: true }] },
  time_bucket: { title: "Time cut to", group: "Generalise", kinds: NUMBERS, start: { unit: "hour" }, parameters: [{ name: "unit", title: "", kind: "choice", options: [["minute", "minute"], ["5_minutes", "5 minutes"], ["15_minutes", "15 minutes"], ["hour", "hour"], ["day", "day"], ["hour_of_day", "hour of the day"]] }] },
  text_prefix: { title: "First characters", group: "Generalise", kinds: CODED, start: { n: 4 }, parameters: [{ name: "n", title: "characters", kind: "whole", min: 0, max: 1000 }] },
  protocol_family: { title: "Protocol family", group: "Generalise", kinds: TEXTS, start: {}, parameters: [] },
  hierarchy: { title: "Hierarchy of your own", group: "Generalise", kinds: EVERY, start: { table: { value: ["parent"] }, level: 1 }, parameters: [{ name: "level", title: "level", kind: "whole", min: 1, max: 20 }, { name: "table", title: "Table (value: [parent, ..])", kind: "json" }] },
  threshold: { title: "Suppress rare values", group: "Suppress", kinds: EVERY, start: { tau: 3 }, parameters: [{ name: "tau", title: "on fewer rows than", kind: "whole", min: 1 }] },
  cell: { title: "Suppress every cell", group: "Suppress", kinds: EVERY, start: {}, parameters: [] },
};

/** Steps on the table as a whole. @type {Record<string, Operation>} */
export const TABLE_OPERATIONS = {
  class_support: { title: "Drop rows of small classes", group: "Table", kinds: [], start: { tau: 3 }, parameters: [{ name: "tau", title: "smaller than", kind: "whole", min: 1 }] },
  mondrian: { title: "Cut into classes of at least k (Mondrian)", group: "Table", kinds: [], start: { k: 5 }, parameters: [{ name: "k", title: "k", kind: "whole", min: 2 }, { name: "l", title: "l", kind: "whole", min: 2, optional: true }, { name: "t", title: "t", kind: "number", min: 0, max: 1, step: 0.05, optional: true }] },
};

/** @param {string} op @returns {Operation} */
export function operationOf(op) {
  const known = [OPERATIONS, TABLE_OPERATIONS].find((shelf) => Object.hasOwn(shelf, op))?.[op];
  return known || { title: op, group: "Other", kinds: EVERY, start: {}, parameters: [] };
}

/** The operations that can act on a kind of column, by group. @param {string} kind @returns {[string, [string, Operation][]][]} */
export function operationsOn(kind) {
  const groups = new Map();
  for (const [op, operation] of Object.entries(OPERATIONS)) {
    if (operation.kinds.includes(kind)) groups.set(operation.group, [...(groups.get(operation.group) || []), [op, operation]]);
  }
  return [...groups];
}

/** A step in words. @param {any} step */
export function inWords(step) {
  const { title, parameters } = operationOf(step.op);
  const given = parameters.filter((entry) => step[entry.name] !== undefined && step[entry.name] !== null && entry.kind !== "json");
  const values = given.map((entry) => `${entry.title} ${wordOf(entry, step[entry.name])}`.trim());
  return `${title}${values.length ? ` (${values.join(", ")})` : ""}`;
}

/** @param {Parameter} parameter @param {any} value */
function wordOf(parameter, value) {
  return parameter.options?.find(([name]) => name === String(value))?.[1] ?? value;
}
