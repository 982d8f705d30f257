// @ts-check
/** The figures, always in sight: before and after, each with its definition and whether it is better. */
import { number, percent } from "../../format.js";
import { html, useState } from "../../html.js";
import { METRICS, MetricRow } from "../../parts/metric.js";
import { isShaped, isVeiled, labelColumn, labelText, veiled } from "../../veil.js";
import { attributesOf } from "./bench.js";
import { advice, bench, change, preview, problem, took } from "./desk.js";

const SHOWN = ["k", "k_rw", "l", "t", "ppi", "ppi_prime", "exact_reid", "uniques"];
const FLAGS = /** @type {Record<string, string>} */ ({
  trivial_t: "t says nothing here: the sensitive values are all alike, or there is one class.",
  few_classes: "Few records or classes: the figures of so small a table say little.",
  suppressed_sa: "Sensitive values were suppressed: l and t count the asterisk.",
  identifying_insensitive: "A column listed as other is nearly one of a kind: it gives records away beside any k.",
  rare_labels_lost: "A rare label is gone from the release.",
  formulas_neutralised: "Cells that a spreadsheet would compute are released with an apostrophe before them.",
  empty_release: "No record is left.",
  no_gate: "No gate is asked for.",
});

/** @param {{stale: boolean}} props */
export function Figures({ stale }) {
  const found = preview.value;
  const now = bench.value;
  if (!found || !now) return html`<section class="panel figures" aria-label="Figures"><h2>Figures</h2><p class="soft" role="status">${problem.value ? "None: this policy could not be tried here." : "Being computed …"}</p></section>`;
  const [before, after] = [found.before.metrics, found.after.metrics];
  return html`<section class="panel figures ${stale ? "stale" : ""}" aria-label="Figures">
    <header><h2>Before <span aria-hidden="true">→</span><span class="hidden-text">and</span> after</h2>
      <span class="small soft number" role="status">${stale ? "of the last policy that could be tried" : `${number(after.rows)} of ${number(before.rows)} records, ${Math.round(took.value)} ms`}</span></header>
    <dl class="metrics">
      ${SHOWN.map((name) => html`<${MetricRow} key=${name} kind=${METRICS[name]} before=${before[name]} after=${after[name]} />`)}
      <${MetricRow} kind=${METRICS.survival} before=${1} after=${found.records.survival} />
    </dl>
    <${Labels} survival=${found.records.survival_by_label} column=${labelColumn(attributesOf(now))} chosen=${now.classes} />
    <${Flags} found=${found} />
    <${Targets} />
  </section>`;
}

/** The same in a line, for narrow screens where the panel cannot stay in sight. */
export function Strip() {
  const found = preview.value;
  if (!found) return null;
  const [before, after] = [found.before.metrics, found.after.metrics];
  const figure = (/** @type {string} */ name, /** @type {string} */ from, /** @type {string} */ to) => html`<span>${name} <span class="soft">${from} →</span> <strong>${to}</strong></span>`;
  return html`<div class="strip number" aria-hidden="true">
    ${figure("k", number(before.k), number(after.k))}${figure("unique", number(before.uniques), number(after.uniques))}
    ${figure("t", number(before.t, 2), number(after.t, 2))}${figure("left", "", percent(found.records.survival, 0))}</div>`;
}

/** @param {{survival: Record<string, number>, column: string, chosen: Record<string, string>}} props */
function Labels({ survival, column, chosen }) {
  const [open, setOpen] = useState(false);
  const labels = Object.entries(survival || {}).sort((a, b) => a[1] - b[1] || a[0].localeCompare(b[0]));
  if (!labels.length) return null;
  const secret = isVeiled(column, chosen[column], advice.value.find((one) => one.column === column)?.class) || labels.some(([label]) => isShaped(labelText(label)));
  const lost = labels.filter(([, share]) => share === 0).length;
  const cut = labels.filter(([, share]) => share < 1).length;
  return html`<details class="labels" open=${cut > 0 && labels.length <= 12}>
    <summary>Survival per label <span class="small ${cut ? "worse" : "soft"}">${lost ? `${lost} of ${labels.length} lost` : cut ? `${cut} of ${labels.length} cut` : `all ${labels.length} whole`}</span></summary>
    <p class="small soft">Records with this label (a value of a sensitive column, or a role) that are released, divided by those that came in.</p>
    ${secret && html`<p class="small"><label><input type="checkbox" checked=${open} onChange=${() => setOpen(!open)} /> Labels in clear</label> <span class="soft">${column} identifies: its values are no labels to learn from.</span></p>`}
    <dl tabindex="0" aria-label="Survival per label">${labels.map(([label, share]) => html`<div key=${label}><dt>${secret && !open ? veiled(labelText(label)) : labelText(label)}</dt>
      <dd class="number ${share === 0 ? "worse" : share < 1 ? "cut" : "better"}"><span aria-hidden="true">${share === 0 ? "✖" : share < 1 ? "▼" : "="}</span> ${share === 0 ? "lost" : percent(share, 0)}</dd></div>`)}</dl>
  </details>`;
}

/** @param {{found: any}} props */
function Flags({ found }) {
  const words = [...found.flags.map((/** @type {string} */ flag) => [flag, FLAGS[flag] || flag]), ...found.findings.map((/** @type {any} */ finding) => [finding.code, finding.detail])];
  if (!words.length) return null;
  return html`<ul class="plain flags">${words.map(([code, text]) => html`<li class="note small" key=${code}><span>${text} <code class="soft">${code}</code></span></li>`)}</ul>`;
}

function Targets() {
  const now = bench.value;
  if (!now) return null;
  const set = (/** @type {"k_target" | "l_target"} */ name, /** @type {any} */ event) =>
    event.target.validity.valid && event.target.value && change({ ...now, ppi: { ...now.ppi, [name]: Number(event.target.value) } }, `target ${name[0]}`);
  return html`<div class="row small targets"><span class="soft">PPI targets</span>
    <label>k <input class="small" type="number" min="1" max="1000000" value=${now.ppi.k_target} onInput=${(/** @type {any} */ event) => set("k_target", event)} /></label>
    <label>l <input class="small" type="number" min="1" max="1000000" value=${now.ppi.l_target} onInput=${(/** @type {any} */ event) => set("l_target", event)} /></label></div>`;
}
