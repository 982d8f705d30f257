// @ts-check
/** Configurations compared: the mean of a figure with its population standard deviation, by group. */
import { asNumber, number } from "../../format.js";
import { html } from "../../html.js";
import { Chart } from "../../parts/chart.js";
import { go, href, route } from "../../router.js";
import { scopesOf } from "./measures.js";

/** @type {[string, string, boolean][]} name in the averages, title, whether it is a share */
const FIGURES = [["", "the chosen risk", true], ["k", "k", false], ["ppi", "PPI", false], ["ppi_prime", "PPI′", false]];

/** @param {{study: any, measure: import("./measures.js").Measure, group: string}} props */
export function Configurations({ study, measure, group }) {
  const { rest, params } = route.value;
  const [chosen, title, share] = FIGURES.find(([name]) => name === (params.figure || "")) || FIGURES[0];
  const name = chosen || measure.name;
  const groups = group ? [group] : scopesOf(study.averages);
  const rows = rowsOf(study.averages, name, groups);
  const told = chosen ? title : `Risk (${measure.title})`;
  const highest = rows.reduce((most, row) => (row.mean > most.mean ? row : most), rows[0]);
  const lowest = rows.reduce((least, row) => (row.mean < least.mean ? row : least), rows[0]);
  const columns = [
    { name: "configuration", title: "Configuration" },
    { name: "group", title: "Releases of" },
    { name: "mean", title: "Mean", number: true, show: asNumber },
    { name: "sd", title: "Population sd", number: true, show: asNumber },
    { name: "releases", title: "Releases", number: true, show: asNumber },
  ];
  const change = (/** @type {any} */ event) => go(href("explore", rest, { ...params, figure: event.target.value }), { quiet: true });
  const lone = rows.every((row) => row.releases < 2);
  return html`<section class="panel">
    ${rows.length > 0 ? html`<${Chart} title="${told} by configuration" rows=${rows} columns=${columns} height=${280} spec=${specOf(rows, told, share, groups)}
      summary="Highest is ${highest.configuration} with ${number(highest.mean)}, lowest ${lowest.configuration} with ${number(lowest.mean)}" call=${{ method: "GET", path: `/sweeps/${study.id}/results?part=averages` }} />` : html`<p class="soft">No release has this figure.</p>`}
    <div class="row"><label class="field inline">Figure<select value=${chosen} onChange=${change}>${FIGURES.map(([figure, words]) => html`<option value=${figure}>${words}</option>`)}</select></label>
      <span class="small soft grow">${lone ? "Each mean is of one release, so nothing varies: more sources give a deviation." : "Point: mean. Bar: one population standard deviation to each side."}</span></div></section>`;
}

/** @param {any[]} averages @param {string} name @param {string[]} groups */
function rowsOf(averages, name, groups) {
  return averages
    .filter((one) => (groups.length ? groups.includes(one.group) : one.group === null) && typeof one[`${name}_mean`] === "number")
    .map((one) => {
      const [mean, sd] = [one[`${name}_mean`], one[`${name}_sd`]];
      return { configuration: one.configuration, group: one.group || "all", mean, sd, low: Math.max(0, mean - sd), high: mean + sd, releases: one.releases };
    });
}

/** @param {any[]} rows @param {string} title @param {boolean} share @param {string[]} groups */
function specOf(rows, title, share, groups) {
  const several = groups.length > 1;
  const x = { field: "configuration", type: "nominal", sort: rows.map((row) => row.configuration), title: null, axis: { labelAngle: 0, labelOverlap: true } };
  const axis = { format: share ? ".0%" : "", title, tickCount: 6 };
  const apart = several ? { xOffset: { field: "group", sort: groups }, color: { field: "group", type: "nominal", sort: groups, title: null } } : {};
  const shape = several ? { shape: { field: "group", type: "nominal", sort: groups, title: null } } : {};
  return {
    encoding: { x, ...apart },
    layer: [
      { mark: { type: "rule", strokeWidth: 2 }, encoding: { y: { field: "low", type: "quantitative", scale: { domainMin: 0 }, axis }, y2: { field: "high" } } },
      { mark: { type: "point", filled: true, size: 80, opacity: 1 }, encoding: { y: { field: "mean", type: "quantitative", axis }, ...shape } },
    ],
  };
}
