// @ts-check
/** Class sizes: how many records hide among how many, and what share stands below each k. */
import { asNumber, asPercent, number, percent, plural } from "../../format.js";
import { html } from "../../html.js";
import { Chart } from "../../parts/chart.js";
import { repaint, token } from "../../theme.js";

const EDGES = [1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 50, 100, 200, 500, 1000]; // where a bar begins
const SHOWN = [2, 3, 4, 5, 10, 20, 50, 100];
const KINDS = ["alone", "below target", "target or above"];

/** @param {{found: any, call: any}} props */
export function ClassSizes({ found, call }) {
  const rows = bars(found.histogram, found.k_target);
  repaint.value; // the colours below follow the theme
  const colours = [token("--fail"), token("--chart-2"), token("--chart-1")];
  const alone = found.histogram.find((/** @type {any} */ bar) => bar.size === 1)?.rows || 0;
  const x = { field: "sizes", type: "ordinal", sort: null, title: "records in the class", axis: { labelAngle: 0, labelOverlap: true } };
  const y = { field: "rows", type: "quantitative", title: "records", scale: { domainMax: 1.12 * Math.max(...rows.map((bar) => bar.rows)) }, axis: { tickMinStep: 1, format: "d" } };
  const spec = {
    encoding: { x, y },
    layer: [
      { mark: { type: "bar", width: { band: 0.8 } }, encoding: { color: { field: "kind", type: "nominal", sort: KINDS, scale: { domain: KINDS, range: colours }, title: null } } },
      { mark: { type: "text", dy: -7 }, encoding: { text: { field: "label" } } },
    ],
  };
  const said = alone ? `${plural(alone, "record")} ${alone === 1 ? "stands" : "stand"} alone: whoever knows the quasi-identifiers has the record.` : "No record stands alone.";
  return html`<section class="panel"><${Chart} title="Records by the size of their class" summary=${said} spec=${spec} rows=${rows} height=${260} call=${call}
      columns=${[{ name: "sizes", title: "Class size" }, { name: "classes", title: "Classes", number: true, show: asNumber }, { name: "rows", title: "Records", number: true, show: asNumber }, { name: "kind", title: "What that is" }]} />
    <p class=${alone ? "called-out bad" : "called-out"}><span aria-hidden="true">${alone ? "✖" : "✔"}</span> ${said}</p></section>`;
}

/** From the smallest class to the largest; a bar spans sizes that no one looks at one by one. @param {any[]} histogram @param {number} target */
function bars(histogram, target) {
  const edges = EDGES.includes(target) ? EDGES : [...EDGES, target].sort((a, b) => a - b);
  const largest = histogram.at(-1).size;
  return edges.filter((first) => first <= largest).map((first) => {
    const beyond = edges[edges.indexOf(first) + 1] || Infinity;
    const inside = histogram.filter((bar) => bar.size >= first && bar.size < beyond);
    const rows = inside.reduce((sum, bar) => sum + bar.rows, 0);
    const sizes = beyond === first + 1 ? String(first) : beyond === Infinity ? `${first}+` : `${first}–${beyond - 1}`;
    const kind = first === 1 ? KINDS[0] : first < target ? KINDS[1] : KINDS[2];
    return { sizes, classes: inside.reduce((sum, bar) => sum + bar.classes, 0), rows, kind, label: rows ? number(rows) : "" };
  });
}

/** @param {{found: any, call: any}} props */
export function Below({ found, call }) {
  const { k_target: target } = found;
  const rows = found.below.filter((/** @type {any} */ one) => SHOWN.includes(one.k) || one.k === target).map((/** @type {any} */ one) => ({ ...one, kind: one.k === target ? "target" : "other k", label: number(one.share * 100, 0) }));
  const x = { field: "k", type: "ordinal", title: "k", axis: { labelAngle: 0 } };
  const y = { field: "share", type: "quantitative", title: "records in %", scale: { domain: [0, 1.08] }, axis: { labelExpr: "datum.value * 100", values: [0, 0.25, 0.5, 0.75, 1] } };
  const spec = {
    encoding: { x, y },
    layer: [
      { mark: { type: "bar", width: { band: 0.7 } }, encoding: { color: { field: "kind", type: "nominal", sort: ["other k", "target"], title: null } } },
      { mark: { type: "text", dy: -7 }, encoding: { text: { field: "label" } } },
    ],
  };
  const said = `${found.share_below_k ? `${percent(found.share_below_k)} of the records stand in classes` : "No record stands in a class"} smaller than the target of ${number(target)}.`;
  return html`<section class="panel"><${Chart} title="Share of records below k" summary=${said} spec=${spec} rows=${rows} height=${260} call=${call}
      columns=${[{ name: "k", title: "k", number: true }, { name: "rows", title: "Records below", number: true, show: asNumber }, { name: "share", title: "Share", number: true, show: asPercent }]} />
    <p class=${found.share_below_k ? "called-out bad" : "called-out"}><span aria-hidden="true">${found.share_below_k ? "✖" : "✔"}</span> ${said}</p></section>`;
}
