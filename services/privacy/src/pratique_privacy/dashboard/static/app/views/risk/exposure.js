// @ts-check
/** Exposure: what each field, each pair and each larger set of quasi-identifiers gives away. */
import { asNumber, asPercent, number, percent, plural } from "../../format.js";
import { html } from "../../html.js";
import { Chart } from "../../parts/chart.js";
import { CopyMenu } from "../../parts/copy_menu.js";
import { ExportMenu } from "../../parts/export_menu.js";
import { DataTable } from "../../parts/table.js";
import { go, href, route } from "../../router.js";
import { repaint, token } from "../../theme.js";

const COLUMNS = [
  { name: "set", title: "Fields" },
  { name: "distinct", title: "Distinct", number: true, show: asNumber },
  { name: "exposure", title: "Exposure", number: true, show: asPercent },
  { name: "uniques", title: "Alone", number: true, show: asNumber },
  { name: "minimal_uniques", title: "Alone by no fewer", number: true, show: asNumber },
];

/** @param {{risk: any, call: (by: string) => any}} props */
export function Exposure({ risk, call }) {
  const subsets = risk.subset.map((/** @type {any} */ one) => ({ ...one, set: one.columns.join(" + ") }));
  const fields = subsets.filter((/** @type {any} */ one) => one.columns.length === 1).map((/** @type {any} */ one) => one.set);
  const { rest, params } = route.value;
  const shown = subsets.find((/** @type {any} */ one) => one.set === params.set) || worst(subsets);
  const choose = (/** @type {string} */ set) => go(href("risk", rest, { ...params, set }), { quiet: true });
  const sorted = [...subsets].sort((a, b) => a.columns.length - b.columns.length || b.exposure - a.exposure);
  const link = { ...COLUMNS[0], show: (/** @type {string} */ set) => html`<button type="button" class="quiet set" aria-pressed=${set === shown.set} onClick=${() => choose(set)}>${set}</button>` };
  return html`<div class="release-page"><div class="stack">
    <section class="panel">${fields.length > 1 ? html`<${HeatMap} subsets=${subsets} fields=${fields} choose=${choose} call=${call("subset")} />` : html`<h2>Exposure of fields</h2>
      <p>There is one quasi-identifier, ${fields[0]}: there are no pairs to look at.</p>`}
      <${Told} one=${shown} /></section>
    ${fields.length > 1 && html`<section class="panel"><${Parts} attributes=${risk.attribute} call=${call("attribute")} /></section>`}</div>
    <section class="panel"><header><h2>Every set of fields</h2><${ExportMenu} name="Every set of fields" columns=${COLUMNS} rows=${sorted} /><${CopyMenu} call=${call("subset")} /></header>
      <p class="small soft">Exposure is the number of distinct combinations over the records: the mean chance of somebody who knows exactly these fields.${risk.cut && ` Sets of more than ${risk.cut.largest_subset} of the ${risk.cut.columns} fields were not looked at: there are too many.`}</p>
      <${DataTable} caption="Every set of fields" columns=${[link, ...COLUMNS.slice(1)]} rows=${sorted} /></section>
  </div>`;
}

/** The pair that gives most away, else the only field. @param {any[]} subsets */
function worst(subsets) {
  const pairs = subsets.filter((one) => one.columns.length === Math.min(2, subsets.at(-1).columns.length));
  return pairs.reduce((most, one) => (one.exposure > most.exposure ? one : most), pairs[0] || subsets[0]);
}

/** @param {{one: any}} props */
function Told({ one }) {
  return html`<p class="told" role="status"><strong>${one.set}</strong>: ${plural(one.distinct, "distinct combination")}; whoever knows ${one.columns.length === 1 ? "it" : "just these"} names a record's row with a mean chance of ${percent(one.exposure)}.
    ${one.uniques ? ` ${plural(one.uniques, "record")} ${one.uniques === 1 ? "is" : "are"} alone by it, ${number(one.minimal_uniques)} of them by no smaller set.` : " No record is alone by it."}</p>`;
}

/** @param {{subsets: any[], fields: string[], choose: (set: string) => void, call: any}} props */
function HeatMap({ subsets, fields, choose, call }) {
  repaint.value; // the inks of cells follow the theme
  const cells = subsets.filter((one) => one.columns.length <= 2).map((one) => {
    const [first, second = first] = one.columns;
    return { first, second, set: one.set, exposure: one.exposure, distinct: one.distinct, uniques: one.uniques, minimal_uniques: one.minimal_uniques, label: percent(one.exposure, one.exposure < 0.1 ? 1 : 0) };
  });
  const pair = cells.filter((one) => one.first !== one.second).reduce((most, one) => (one.exposure > most.exposure ? one : most));
  const axis = { labelAngle: 0, labelLimit: 110, domain: false, ticks: false };
  const spec = {
    encoding: { x: { field: "first", type: "nominal", sort: fields, title: null, axis: { ...axis, orient: "bottom" } }, y: { field: "second", type: "nominal", sort: fields, title: null, axis } },
    layer: [
      { mark: { type: "rect", stroke: token("--surface"), strokeWidth: 2, cursor: "pointer" }, encoding: { color: { field: "exposure", type: "quantitative", scale: { domain: [0, 1] }, legend: null } } },
      { mark: { type: "text", fontWeight: 600, cursor: "pointer" }, encoding: { text: { field: "label" }, color: { condition: { test: "datum.exposure > 0.5", value: token("--surface") }, value: token("--ink") } } },
    ],
  };
  return html`<${Chart} title="Which two fields give a record away" summary=${`A cell is a pair, the diagonal a field by itself; the darkest pair is ${pair.set} with ${percent(pair.exposure)}`} spec=${spec} rows=${cells} height=${Math.max(180, fields.length * 52 + 30)} call=${call}
    columns=${COLUMNS} choose=${(/** @type {any} */ datum) => datum.set && choose(datum.set)} />`;
}

/** @param {{attributes: any[], call: any}} props */
function Parts({ attributes, call }) {
  const found = attributes.filter((one) => one.minimal_share !== undefined).sort((a, b) => b.singled_share - a.singled_share);
  if (!found.some((one) => one.singled_rows)) return html`<h2>Each field's part in singling out</h2><p>No set of fields leaves a record alone.</p>`;
  const rows = found.map((one) => ({ ...one, label: percent(one.singled_share, 0) }));
  const spec = {
    encoding: { y: { field: "column", type: "nominal", sort: null, title: null }, x: { field: "singled_share", type: "quantitative", scale: { domain: [0, 1.25] }, axis: { format: "%", values: [0, 0.25, 0.5, 0.75, 1] }, title: "share of the singled-out records" } },
    layer: [{ mark: { type: "bar", height: { band: 0.6 } } }, { mark: { type: "text", align: "left", dx: 4 }, encoding: { text: { field: "label" } } }],
  };
  return html`<${Chart} title="Each field's part in singling out" summary="For which share of the records that some set leaves alone the field stands in one of their smallest sets" spec=${spec} rows=${rows} height=${rows.length * 34 + 50} call=${call}
    columns=${[{ name: "column", title: "Field" }, { name: "distinct", title: "Distinct", number: true, show: asNumber }, { name: "singled_rows", title: "Records singled out with it", number: true, show: asNumber }, { name: "singled_share", title: "Share of them", number: true, show: asPercent }, { name: "minimal_share", title: "Share of smallest sets", number: true, show: asPercent }]} />
    <p class="small soft">For which share of the records that some set leaves alone does the field stand in one of their smallest sets. The longest bar is where coarser values help most.</p>`;
}
