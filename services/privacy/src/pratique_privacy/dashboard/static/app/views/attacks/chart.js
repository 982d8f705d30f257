// @ts-check
/** Adversaries in one chart: estimate, interval, exact value and bound of each, beside the exact-QI bound and 1/N. */
import { asNumber, asPercent, percent } from "../../format.js";
import { html } from "../../html.js";
import { Chart } from "../../parts/chart.js";
import { go, href, route } from "../../router.js";
import { repaint, token } from "../../theme.js";
import { policyOf } from "../releases/words.js";

/** @typedef {import("./rows.js").Row} Row */

const COLUMNS = [
  { name: "label", title: "Adversary" },
  { name: "knows", title: "Knows" },
  { name: "estimate", title: "Estimate", number: true, show: asPercent },
  { name: "low", title: "95 %, lower end", number: true, show: asPercent },
  { name: "high", title: "upper end", number: true, show: asPercent },
  { name: "exact", title: "Exact", number: true, show: asPercent },
  { name: "bound", title: "Gate at most", number: true, show: asPercent },
  { name: "repetitions", title: "Repetitions", number: true, show: asNumber },
  { name: "seed", title: "Seed", number: true, show: (/** @type {number | null} */ seed) => seed ?? "–" },
  { name: "run", title: "Run" },
];
const SCALES = [["", "from 0 to the greatest"], ["whole", "0 to 100 %"], ["close", "close up"]];
const MARKS = ["estimate", "exact", "gate at most"];

/** @param {{posture: any, rows: Row[]}} props */
export function AdversaryChart({ posture, rows }) {
  repaint.value; // the colours below follow the theme
  const { rest, params } = route.value;
  const lines = [{ at: 1 / posture.after.rows, name: "1/N", told: `1/N ${percent(1 / posture.after.rows, 2)}` }, { at: posture.after.exact_reid, name: "exact-QI bound", told: `exact-QI bound ${percent(posture.after.exact_reid)}` }];
  const rescale = (/** @type {any} */ event) => go(href("attacks", rest, { ...params, scale: event.target.value }), { quiet: true });
  const domain = domainOf(rows, lines, params.scale);
  const beyond = rows.filter((row) => row.bound !== null && (row.bound > domain[1] || row.bound < domain[0]));
  const worst = rows.reduce((most, row) => (reach(row) > reach(most) ? row : most), rows[0]);
  return html`<section class="panel">
    <${Chart} title="Chance to name a record's row, by adversary" summary="The most successful is ${worst.label} with ${percent(reach(worst))}; a guess gets ${percent(lines[0].at, 2)}"
      spec=${specOf(rows, lines, domain)} rows=${rows} height=${rows.length * 38 + 96} columns=${COLUMNS}
      call=${{ method: "GET", path: `/releases/${posture.release}/posture` }} policy=${policyOf(posture)} />
    <label class="field scale">Scale<select value=${params.scale || ""} onChange=${rescale}>${SCALES.map(([name, title]) => html`<option value=${name}>${title}</option>`)}</select></label>
    <p class="small soft">${beyond.length > 0 && `Off the scale: the gate's bound on ${beyond.map((row) => `${row.label}, at most ${percent(row.bound)}`).join("; ")}. `}The chance is a mean over all released records. Band: 95 % interval of the simulation. Nobody in this model beats the exact-QI bound, who knows every field rightly; 1/N is a blind guess. The gate holds an adversary at its exact value, or without one at the upper end of the interval.</p>
  </section>`;
}

/** @param {Row} row */
function reach(row) {
  return row.exact ?? row.estimate ?? 0;
}

/** @param {Row[]} rows @param {{at: number}[]} lines @param {string | undefined} scale */
function domainOf(rows, lines, scale) {
  if (scale === "whole") return [0, 1];
  const found = rows.flatMap((row) => [row.estimate, row.low, row.high, row.exact]).filter((value) => typeof value === "number");
  if (scale === "close") {
    const [least, most] = [Math.min(...found), Math.max(...found)];
    const margin = Math.max((most - least) * 0.05, 0.001);
    return [Math.max(0, least - margin), Math.min(1, most + margin)];
  }
  const most = Math.max(...found, ...lines.map((line) => line.at));
  const bounds = rows.map((row) => row.bound ?? 0).filter((bound) => bound < 1.8 * most); // a far bound would press the rest together
  return [0, Math.min(1, Math.max(most, ...bounds) * 1.1)];
}

/** @param {Row[]} rows @param {{at: number}[]} lines @param {number[]} domain */
function specOf(rows, lines, domain) {
  const [first, second, ink] = [token("--chart-1"), token("--chart-2"), token("--ink-soft")];
  const scale = { domain, nice: false };
  const legend = { columns: 2 };
  const y = { field: "label", type: "nominal", sort: rows.map((row) => row.label), title: null, axis: { labelLimit: 190, ticks: false } };
  const axis = { format: domain[1] - domain[0] < 0.05 ? ".1%" : ".0%", title: "mean chance", tickCount: 6 };
  const inside = lines.filter((line) => line.at >= domain[0] && line.at <= domain[1]);
  const line = (/** @type {any} */ value, /** @type {boolean} */ above) => [
    { data: { values: [value] }, mark: { type: "rule", strokeDash: [5, 4], color: ink, clip: true }, encoding: { x: { field: "at", type: "quantitative", scale } } },
    { data: { values: [value] }, mark: { type: "text", align: value.at > (domain[0] + domain[1]) / 2 ? "right" : "left", dx: value.at > (domain[0] + domain[1]) / 2 ? -4 : 4, color: ink }, encoding: { x: { field: "at", type: "quantitative", scale }, y: { value: above ? 8 : 22 }, text: { field: "told" } } },
  ];
  // An empty row on top keeps the names of the lines off the adversaries.
  const domainOfRows = [" ", ...rows.map((row) => row.label)];
  const placed = { ...y, sort: undefined, scale: { domain: domainOfRows } };
  return {
    layer: [
      ...inside.flatMap((value, place) => line(value, place === 0)),
      { mark: { type: "rule", strokeWidth: 9, opacity: 0.35, color: first, clip: true }, transform: [{ filter: "isValid(datum.low)" }], encoding: { y: placed, x: { field: "low", type: "quantitative", scale, axis }, x2: { field: "high" } } },
      {
        transform: [{ calculate: "datum.bound", as: "gate at most" }, { fold: MARKS, as: ["what", "value"] }, { filter: "isValid(datum.value)" }],
        mark: { type: "point", size: 100, strokeWidth: 2, opacity: 1, clip: true },
        encoding: {
          y: placed,
          x: { field: "value", type: "quantitative", scale, axis },
          shape: { field: "what", type: "nominal", scale: { domain: MARKS, range: ["circle", "diamond", "M-0.1,-1.8L0.1,-1.8L0.1,1.8L-0.1,1.8Z"] }, title: null, legend },
          fill: { field: "what", type: "nominal", scale: { domain: MARKS, range: [first, "transparent", token("--fail")] }, title: null, legend },
          stroke: { field: "what", type: "nominal", scale: { domain: MARKS, range: [first, second, token("--fail")] }, title: null, legend },
        },
      },
    ],
  };
}
