// @ts-check
/** Differences: what two postures say about the same things, row by row, and which of the two is better. */
import { figureOf, kindOf, stepWords } from "./words.js";

/** @typedef {{title: string, left: any, right: any, differs: boolean, shape: string, word: string, tone: string}} Row */

const FIGURES = ["rows", "survival", "classes", "k", "k_rw", "uniques", "all_columns.uniques", "share_below_k", "exact_reid", "max_risk", "partial_qi", "linkage", "l", "l_entropy", "t", "t_ordered", "ppi", "ppi_prime"];
const SHARES = ["survival", "share_below_k", "exact_reid", "max_risk", "partial_qi", "linkage"];
const CLASSES = [["identifiers", "identifier"], ["quasi_identifiers", "quasi-identifier"], ["sensitive", "sensitive"], ["insensitive", "insensitive"], ["drop", "dropped"]];

/** A figure by the name that a gate uses; an adversary stands at its exact value where there is one. @param {any} posture @param {string} name */
function valueOf(posture, name) {
  if (name === "survival") return posture.records.survival;
  if (name === "all_columns.uniques") return posture.all_columns.uniques;
  if (name === "partial_qi" || name === "linkage") return posture.attacks?.[name]?.exact ?? posture.attacks?.[name]?.estimate ?? null;
  return posture.after[name] ?? null;
}

/** @param {any} one @param {any} other @returns {Row[]} */
export function figureRows(one, other) {
  const rows = FIGURES.map((name) => ({ name, left: valueOf(one, name), right: valueOf(other, name) }));
  return rows.filter((row) => row.left !== null || row.right !== null).map(({ name, left, right }) => {
    const kind = kindOf(name);
    return { title: kind.title, left: figureOf(name, left), right: figureOf(name, right), ...judged(kind.better, left, right) };
  });
}

/** From the left to the right. @param {"up" | "down" | "none"} better @param {number | null} left @param {number | null} right */
function judged(better, left, right) {
  if (left === right || (left !== null && right !== null && Math.abs(left - right) < 1e-9)) return same();
  if (left === null || right === null) return { differs: true, shape: "≠", word: "one has none", tone: "same" };
  const shape = right > left ? "▲" : "▼";
  if (better === "none") return { differs: true, shape, word: right > left ? "more" : "fewer", tone: "same" };
  const good = right > left === (better === "up");
  return { differs: true, shape, word: good ? "better" : "worse", tone: good ? "better" : "worse" };
}

function same() {
  return { differs: false, shape: "=", word: "same", tone: "same" };
}

/** @param {string} left @param {string} right @param {string} title @returns {Row} */
function texts(title, left, right) {
  return { title, left, right, ...(left === right ? same() : { differs: true, shape: "≠", word: "differs", tone: "same" }) };
}

/** @param {any} one @param {any} other @returns {Row[]} */
export function gateRows(one, other) {
  const checks = (/** @type {any} */ posture) => new Map((posture.gate?.checks || []).map((/** @type {any} */ check) => [`${check.metric} ${check.op}`, check]));
  const [left, right] = [checks(one), checks(other)];
  const told = (/** @type {any} */ check) => (check ? `${check.status}: ${figureOf(check.metric, check.value)} ${check.op === ">=" ? "≥" : "≤"} ${figureOf(check.metric, check.bound)}` : "not asked");
  return [...new Set([...left.keys(), ...right.keys()])].map((key) => texts(kindOf(key.split(" ")[0]).title, told(left.get(key)), told(right.get(key))));
}

/** @param {any} one @param {any} other @returns {Row[]} */
export function columnRows(one, other) {
  const classOf = (/** @type {any} */ posture, /** @type {string} */ column) => CLASSES.find(([list]) => posture.attributes[list]?.includes(column))?.[1] || "not there";
  const columns = new Set([one, other].flatMap((posture) => CLASSES.flatMap(([list]) => posture.attributes[list] || [])));
  return [...columns].map((column) => texts(column, classOf(one, column), classOf(other, column)));
}

/** Steps by their place in the policy. @param {any} one @param {any} other @returns {Row[]} */
export function stepRows(one, other) {
  const most = Math.max(one.steps.length, other.steps.length);
  const at = (/** @type {any} */ posture, /** @type {number} */ place) => (posture.steps[place] ? stepWords(posture.steps[place]) : "none");
  return Array.from({ length: most }, (_, place) => texts(String(place + 1), at(one, place), at(other, place)));
}

/** Shares that both have, as rows of a chart. @param {any} one @param {any} other @param {string} left @param {string} right */
export function shareRows(one, other, left, right) {
  const known = SHARES.filter((name) => valueOf(one, name) !== null && valueOf(other, name) !== null);
  return known.flatMap((name) => [[left, one], [right, other]].map(([release, posture]) => ({ title: kindOf(name).title, release, share: valueOf(posture, name) })));
}
