// @ts-check
/** Measures of risk: the three adversaries, by their names in averages, in correlations and in rows of releases. */

/** @typedef {{name: string, row: string, title: string, short: string}} Measure */

/** @type {Measure[]} */
export const MEASURES = [
  { name: "exact", row: "exact", title: "exact QI", short: "Exact QI" },
  { name: "partial", row: "partial_qi", title: "partial QI", short: "Partial QI" },
  { name: "linkage", row: "linkage", title: "linkage", short: "Linkage" },
];

/** @param {string | undefined} name @returns {Measure} */
export function measureNamed(name) {
  return MEASURES.find((measure) => measure.name === name) || MEASURES[0];
}

/** The groups of averages or correlations, without that of all. @param {any[]} rows @returns {string[]} */
export function scopesOf(rows) {
  return [...new Set(rows.map((row) => row.group).filter(Boolean))];
}

/** @param {(number | null | undefined)[]} values */
export function mean(values) {
  const known = /** @type {number[]} */ (values.filter((value) => typeof value === "number"));
  return known.length ? known.reduce((sum, value) => sum + value, 0) / known.length : null;
}

/** Points that no other beats in both: `cost` wants to be small and `gain` large. @template T @param {T[]} points @param {(point: T) => number} cost @param {(point: T) => number} gain @returns {T[]} */
export function frontOf(points, cost, gain) {
  const ordered = [...points].sort((a, b) => cost(a) - cost(b) || gain(b) - gain(a));
  let best = -Infinity;
  return ordered.filter((point) => gain(point) > best && ((best = gain(point)), true));
}

/** The exact expectation where it was computed, else the simulated mean. @param {any} release @param {string} row @returns {number | null} */
export function riskOf(release, row) {
  return release[`${row}_exact`] ?? release[row] ?? null;
}
