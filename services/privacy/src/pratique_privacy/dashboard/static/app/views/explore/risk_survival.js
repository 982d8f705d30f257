// @ts-check
/** Risk against survival: each configuration's mean, and the front of those that no other beats in both. */
import { asNumber, asPercent, percent } from "../../format.js";
import { html } from "../../html.js";
import { Chart } from "../../parts/chart.js";
import { repaint, token } from "../../theme.js";
import { frontOf, mean, riskOf } from "./measures.js";

/** @param {{study: any, measure: import("./measures.js").Measure, group: string}} props */
export function RiskSurvival({ study, measure, group }) {
  repaint.value; // the colours below follow the theme
  const rows = pointsOf(study, measure, group);
  const front = frontOf(rows, (row) => row.risk, (row) => row.survival);
  const marked = rows.map((row) => ({ ...row, front: front.includes(row) ? "on the front" : "beaten by another" }));
  const flat = rows.every((row) => row.survival === rows[0]?.survival);
  const columns = [
    { name: "configuration", title: "Configuration" },
    { name: "survival", title: "Survival", number: true, show: asPercent },
    { name: "risk", title: `Risk, ${measure.title}`, number: true, show: asPercent },
    { name: "releases", title: "Releases", number: true, show: asNumber },
    { name: "front", title: "Pareto front" },
  ];
  return html`<section class="panel"><${Chart} title="Risk against survival" rows=${together(marked)} columns=${columns} height=${280}
      summary="On the front: ${front.map((row) => `${row.configuration} with risk ${percent(row.risk)} and survival ${percent(row.survival)}`).join("; ")}"
      spec=${specOf(measure)} call=${{ method: "GET", path: `/sweeps/${study.id}` }} />
    <p class="small soft">Means over the releases of a configuration; lower right is better. The line joins configurations that no other beats in both.
      ${flat && rows.length > 1 && " Here every configuration keeps the same share of records: give the sweep thresholds of suppression to see the trade."}</p></section>`;
}

/** @param {any} study @param {import("./measures.js").Measure} measure @param {string} group */
function pointsOf(study, measure, group) {
  const within = study.releases.filter((/** @type {any} */ one) => !one.error && (!group || one.group === group));
  const names = [...new Set(within.map((/** @type {any} */ one) => one.configuration))];
  return names
    .map((configuration) => {
      const own = within.filter((/** @type {any} */ one) => one.configuration === configuration);
      return { configuration: String(configuration), survival: /** @type {number} */ (mean(own.map((/** @type {any} */ one) => one.survival))), risk: /** @type {number} */ (mean(own.map((/** @type {any} */ one) => riskOf(one, measure.row)))), releases: own.length };
    })
    .filter((row) => row.risk !== null && row.survival !== null);
}

/** Configurations that lie close together share one label. @param {any[]} rows */
function together(rows) {
  const near = Math.max(...rows.map((row) => row.risk)) * 0.07;
  /** @type {any[][]} */
  const spots = [];
  for (const row of [...rows].sort((a, b) => a.risk - b.risk)) {
    const spot = spots.find(([first]) => Math.abs(first.survival - row.survival) < 0.06 && row.risk - first.risk < near);
    if (spot) spot.push(row);
    else spots.push([row]);
  }
  return spots.flatMap((spot) => spot.map((row, place) => ({ ...row, label: place ? "" : spot.map((one) => one.configuration).sort().join(", ") })));
}

/** @param {import("./measures.js").Measure} measure */
function specOf(measure) {
  const [plain, front] = [token("--ink-soft"), token("--chart-1")];
  const x = { field: "survival", type: "quantitative", scale: { domain: [0, 1] }, axis: { format: ".0%", title: "records that survive", tickCount: 6 } };
  const y = { field: "risk", type: "quantitative", scale: { domainMin: 0, nice: true }, axis: { format: ".0%", title: `risk, ${measure.title}`, tickCount: 6 } };
  const states = ["on the front", "beaten by another"];
  return {
    encoding: { x, y },
    layer: [
      { transform: [{ filter: "datum.front === 'on the front'" }], mark: { type: "line", interpolate: "step-before", strokeWidth: 2, color: front, opacity: 0.6 }, encoding: { order: { field: "survival", type: "quantitative" } } },
      { mark: { type: "point", size: 90, strokeWidth: 2, opacity: 1 }, encoding: {
        shape: { field: "front", type: "nominal", scale: { domain: states, range: ["circle", "diamond"] }, title: null },
        fill: { field: "front", type: "nominal", scale: { domain: states, range: [front, "transparent"] }, title: null },
        stroke: { field: "front", type: "nominal", scale: { domain: states, range: [front, plain] }, title: null } } },
      // Beside the points at the right edge, under those that their names would reach, above all others.
      { mark: { type: "text", align: { expr: "datum.survival > 0.93 ? 'right' : 'center'" }, dx: { expr: "datum.survival > 0.93 ? -10 : 0" }, dy: { expr: "datum.survival > 0.93 ? 0 : datum.survival > 0.8 ? 15 : -13" } }, encoding: { text: { field: "label" } } },
    ],
  };
}
