// @ts-check
/** PPI against PPI': how each goes along with resistance to an adversary, and what that does not mean. */
import { asNumber, asPercent, number } from "../../format.js";
import { html } from "../../html.js";
import { Chart } from "../../parts/chart.js";
import { DataTable } from "../../parts/table.js";
import { repaint, token } from "../../theme.js";
import { riskOf } from "./measures.js";

const INDEXES = /** @type {["ppi" | "ppi_prime", string][]} */ ([["ppi", "PPI"], ["ppi_prime", "PPI′"]]);

/** @param {{study: any, measure: import("./measures.js").Measure, group: string, named: (id: string) => string}} props */
export function Indexes({ study, measure, group, named }) {
  repaint.value; // the colours below follow the theme
  const own = study.releases.filter((/** @type {any} */ one) => !one.error && (!group || one.group === group));
  const rows = own.flatMap((/** @type {any} */ one) => INDEXES.map(([index, title]) => ({ release: `${one.configuration} of ${named(one.source)}`, index: title, value: one[index], risk: riskOf(one, measure.row) }))).filter((/** @type {any} */ row) => row.value !== null && row.risk !== null);
  const found = study.correlations.filter((/** @type {any} */ one) => (one.group || "") === group);
  const lead = study.leads.find((/** @type {any} */ one) => (one.group || "") === group && one.measure === measure.name);
  const columns = [{ name: "release", title: "Release" }, { name: "index", title: "Index" }, { name: "value", title: "Value", number: true, show: asNumber }, { name: "risk", title: `Risk, ${measure.title}`, number: true, show: asPercent }];
  const r = (/** @type {string} */ index) => found.find((/** @type {any} */ one) => one.index === index && one.measure === measure.name)?.r;
  return html`<section class="panel" aria-labelledby="indexes"><h2 id="indexes">PPI and PPI′</h2>
    <div class="grid-2"><${Chart} title="Index against risk" rows=${rows} columns=${columns} height=${340} spec=${specOf(measure)} call=${{ method: "GET", path: `/sweeps/${study.id}` }}
        summary="Correlation with resistance: PPI ${number(r("ppi"), 2)}, PPI′ ${number(r("ppi_prime"), 2)}" />
      <div class="stack"><${DataTable} caption="Correlation of each index with resistance" rows=${found.map(told)} columns=${[{ name: "index", title: "Index" }, { name: "measure", title: "Resistance to" }, { name: "r", title: "r", number: true, show: (/** @type {any} */ value) => number(value, 2) }, { name: "interval", title: "95 % interval", number: true }, { name: "releases", title: "Releases", number: true, show: asNumber }]} />
        <${Caveat} lead=${lead} releases=${own.length} measure=${measure} /></div></div></section>`;
}

/** @param {any} one */
function told(one) {
  const titles = /** @type {Record<string, string>} */ ({ exact: "exact QI", partial: "partial QI", linkage: "linkage" });
  const known = typeof one.ci95_low === "number";
  return { ...one, index: one.index === "ppi" ? "PPI" : "PPI′", measure: titles[one.measure], interval: known ? `${number(one.ci95_low, 2)} to ${number(one.ci95_high, 2)}` : "–" };
}

/** @param {{lead: any, releases: number, measure: import("./measures.js").Measure}} props */
function Caveat({ lead, releases, measure }) {
  const known = typeof lead?.ci95_low === "number";
  const sure = known && lead.ci95_low > 0;
  return html`<div class="note"><strong>What this does not say</strong>
    ${known ? html`<p>Against ${measure.title} the r of PPI′ is ${number(Math.abs(lead.difference), 2)} ${lead.difference >= 0 ? "higher" : "lower"} than that of PPI; the 95 % interval of the difference, ${number(lead.ci95_low, 2)} to ${number(lead.ci95_high, 2)}, ${sure ? "lies above 0" : "does not lie above 0, so chance may be all there is to it"}.</p>` : html`<p>There is too little variation for an interval: no statement about which index is the better one.</p>`}
    <p>PPI′ is built from the record-weighted k, the exact-QI risk is built from the same class sizes: part of the agreement is by construction. A high PPI′ can stand beside a tail of unique records. Neither index is a bound on an adversary; the gate holds the risks themselves.</p>
    ${releases < 30 && html`<p>${releases} releases are few; those of one source are not independent of each other.</p>`}</div>`;
}

/** @param {import("./measures.js").Measure} measure */
function specOf(measure) {
  const [first, second] = [token("--chart-2"), token("--chart-1")];
  const names = INDEXES.map(([, title]) => title);
  return {
    mark: { type: "point", size: 80, strokeWidth: 2, opacity: 0.9 },
    encoding: {
      x: { field: "value", type: "quantitative", scale: { domain: [0, 1] }, axis: { title: "index", tickCount: 6 } },
      y: { field: "risk", type: "quantitative", scale: { domainMin: 0 }, axis: { format: ".0%", title: `risk, ${measure.title}`, tickCount: 6 } },
      shape: { field: "index", type: "nominal", scale: { domain: names, range: ["diamond", "circle"] }, title: null },
      stroke: { field: "index", type: "nominal", scale: { domain: names, range: [first, second] }, title: null },
    },
  };
}
