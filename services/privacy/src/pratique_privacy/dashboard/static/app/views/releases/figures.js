// @ts-check
/** The figures of a release: before and after, or after alone for whoever may not see the raw side. */
import { asNumber, asPercent, number, percent } from "../../format.js";
import { html, useState } from "../../html.js";
import { Chart } from "../../parts/chart.js";
import { METRICS, MetricRow } from "../../parts/metric.js";
import { DataTable } from "../../parts/table.js";
import { isShaped, isVeiled, labelColumn, labelText } from "../../veil.js";
import { flagWords } from "./words.js";

const SHOWN = ["rows", "classes", "k", "k_rw", "uniques", "share_below_k", "exact_reid", "max_risk", "l", "l_entropy", "t", "t_ordered", "ppi", "ppi_prime"];
const MOST_LABELS = 24;

/** @param {{posture: any}} props */
export function Figures({ posture }) {
  const { before, after, ppi_parameters: ppi, all_columns: whole } = posture;
  const given = SHOWN.filter((name) => typeof after[name] === "number" || typeof before?.[name] === "number");
  return html`<section class="panel" aria-labelledby="figures"><header><h2 id="figures">Posture</h2><span class="small soft">${before ? "before → after" : "of the released records"}</span></header>
    <dl class="metrics">${given.map((name) => html`<${MetricRow} key=${name} kind=${METRICS[name]} before=${before?.[name]} after=${after[name]} onlyAfter=${!before} />`)}
      <${MetricRow} kind=${METRICS.survival} after=${posture.records.survival} onlyAfter /></dl>
    <p class="small soft">${given.includes("ppi") && `PPI with k* = ${ppi.k_target}, l* = ${ppi.l_target}, weights ${ppi.weights.map((/** @type {number} */ one) => number(one)).join(", ")}. `}
      ${whole.classes > 0 && `Over all released columns, pseudonyms apart: ${number(whole.classes)} classes, ${number(whole.uniques)} unique records.`}</p>
    <${BySensitive} posture=${posture} />
  </section>`;
}

/** @param {{posture: any}} props */
function BySensitive({ posture }) {
  const each = Object.entries(posture.after.by_sensitive || {});
  if (each.length < 2) return null;
  const columns = [{ name: "column", title: "Sensitive column" }, ...["l", "l_entropy", "t", "t_ordered"].map((name) => ({ name, title: METRICS[name].title, number: true, show: asNumber }))];
  return html`<${DataTable} caption="Figures of each sensitive column" columns=${columns} rows=${each.map(([column, found]) => ({ column, .../** @type {any} */ (found) }))} />`;
}

/** @param {{posture: any}} props */
export function Flags({ posture }) {
  const { flags, findings, records } = posture;
  const cells = Object.entries(records.cells_suppressed || {}).filter(([, share]) => share);
  const unread = Object.entries(records.unreadable || {}).filter(([, count]) => count);
  if (!flags.length && !findings.length && !cells.length && !unread.length) return null;
  return html`<section class="panel" aria-labelledby="flags"><h2 id="flags">What to mind</h2>
    <ul class="notes plain">
      ${flags.map((/** @type {string} */ flag) => html`<li class="note"><span>${flagWords(flag)}</span><code class="small soft">${flag}</code></li>`)}
      ${findings.map((/** @type {any} */ found) => html`<li class="note"><span>${found.detail}</span><span class="small soft"><code>${found.code}</code>${found.column && ` in ${found.column}`}</span></li>`)}
      ${cells.length > 0 && html`<li class="note"><span>Cells suppressed: ${cells.map(([column, share]) => `${column} ${percent(share)}`).join(", ")}.</span></li>`}
      ${unread.length > 0 && html`<li class="note"><span>Values that a step could not read became *: ${unread.map(([column, count]) => `${column} ${number(count)}`).join(", ")}.</span></li>`}
    </ul></section>`;
}

/** Which labels suppression spares. @param {{release: any, posture: any}} props */
export function Labels({ release, posture }) {
  const [open, setOpen] = useState(false);
  const column = labelColumn(posture.attributes);
  const sorted = Object.entries(posture.records.survival_by_label || {}).sort((a, b) => Number(a[1]) - Number(b[1]));
  const secret = isVeiled(column, "sensitive") || sorted.some(([label]) => isShaped(labelText(label)));
  const every = sorted.map(([label, share], place) => ({ label: secret && !open ? `${column} ${place + 1}` : labelText(label), share, shown: percent(share) }));
  if (every.length < 2 || !posture.after.rows) return null;
  const lost = every.filter((row) => !row.share).length;
  if (every[0].share === 1) return html`<section class="panel"><h2>Survival per label</h2><p>All records of all ${number(every.length)} labels are released.</p></section>`;
  const rows = every.slice(0, MOST_LABELS);
  const spec = {
    encoding: { y: { field: "label", type: "nominal", sort: null, title: null }, x: { field: "share", type: "quantitative", scale: { domain: [0, 1.12] }, title: "share of records released", axis: { format: "%", values: [0, 0.25, 0.5, 0.75, 1] } } },
    layer: [{ mark: { type: "bar", height: { band: 0.7 } } }, { mark: { type: "text", align: "left", dx: 4 }, encoding: { text: { field: "shown" } } }],
  };
  return html`<section class="panel"><${Chart} title="Survival per label" summary=${`${every.length} labels, ${lost} of them lost`} spec=${spec} rows=${rows} height=${Math.max(80, rows.length * 22 + 40)}
    columns=${[{ name: "label", title: "Label" }, { name: "share", title: "Survival", number: true, show: asPercent }]} call=${{ method: "GET", path: `/releases/${release.id}/posture` }} />
    ${secret && html`<label class="row small"><input type="checkbox" checked=${open} onChange=${() => setOpen(!open)} /> Labels in clear</label>`}
    ${rows.length < every.length && html`<p class="small soft">The ${rows.length} labels that lose most, of ${number(every.length)}.</p>`}</section>`;
}
