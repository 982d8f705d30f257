// @ts-check
/** Adversaries as rows: one for each that ran on a release, its own and further ones. */
import { number } from "../../format.js";

/**
 * @typedef {{label: string, knows: string, run: string, estimate: number | null, low: number | null, high: number | null, exact: number | null,
 *   bound: number | null, repetitions: number | null, seed: number | null, note: string}} Row
 */

const KNOWS = { exact_qi: "every quasi-identifier of the target", partial_qi: "some of them; the rest is forgotten", linkage: "all of them from elsewhere, some wrong" };
export const OWN = "of the release";

/** @param {any} posture @param {any[]} runs @returns {Row[]} */
export function rowsOf(posture, runs) {
  const bounds = new Map((posture.gate?.checks || []).filter((/** @type {any} */ check) => check.op === "<=").map((/** @type {any} */ check) => [check.metric, check.bound]));
  const own = posture.attacks ? [exact(posture, bounds.get("exact_qi") ?? bounds.get("exact_reid") ?? null), ...simulated(posture.attacks, OWN, bounds)] : [];
  const further = [...runs].reverse().flatMap((run) => simulated(run.attacks, run.id, new Map()));
  return apart([...own, ...further]);
}

/** @param {any} posture @param {number | null} bound @returns {Row} */
function exact(posture, bound) {
  return { label: "exact QI", knows: KNOWS.exact_qi, run: OWN, estimate: null, low: null, high: null, exact: posture.attacks.exact_qi ?? posture.after.exact_reid, bound, repetitions: null, seed: null, note: "" };
}

/** @param {any} attacks @param {string} run @param {Map<string, number>} bounds @returns {Row[]} */
function simulated(attacks, run, bounds) {
  return /** @type {("partial_qi" | "linkage")[]} */ (["partial_qi", "linkage"]).filter((name) => attacks[name]).map((name) => {
    const { estimate, ci95, exact: known, parameters, repetitions, seed, agrees, error } = attacks[name];
    const note = error ? `failed with the code ${error}: no figure, and the gate cannot pass.` : agrees === false ? "simulation and exact value differ by more than chance: trust neither." : "";
    return { label: labelOf(name, parameters), knows: KNOWS[name], run, estimate, low: ci95?.[0] ?? null, high: ci95?.[1] ?? null, exact: known, bound: bounds.get(name) ?? null, repetitions, seed, note };
  });
}

/** @param {"partial_qi" | "linkage"} name @param {any} parameters */
export function labelOf(name, parameters) {
  if (name === "partial_qi") return `partial, forgets ${number(parameters.forget, 2)}`;
  return `linkage, right ${number(parameters.accuracy, 2)}${parameters.wrong_value === "exclude" ? ", never by chance" : ""}`;
}

/** Labels name one row each: equal ones are told apart by repetitions, seed, at last by a number. @param {Row[]} rows */
function apart(rows) {
  let found = rows;
  for (const told of [(/** @type {Row} */ row) => `, ${row.repetitions} ×`, (/** @type {Row} */ row) => `, seed ${row.seed}`]) {
    const firsts = new Map([...found].reverse().map((row) => [row.label, row]));
    found = found.map((row) => (firsts.get(row.label) === row || told(row) === told(/** @type {Row} */ (firsts.get(row.label))) ? row : { ...row, label: row.label + told(row) }));
  }
  const seen = new Map();
  return found.map((row) => {
    seen.set(row.label, (seen.get(row.label) || 0) + 1);
    return seen.get(row.label) === 1 ? row : { ...row, label: `${row.label} (${seen.get(row.label)})` };
  });
}
