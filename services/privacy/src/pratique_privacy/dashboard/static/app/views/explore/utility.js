// @ts-check
/** The answer of a utility study: what a classifier still learns, against what survives. */
import { asNumber, asPercent, number, percent } from "../../format.js";
import { html } from "../../html.js";
import { Chart } from "../../parts/chart.js";
import { Facts } from "../../parts/facts.js";
import { go, href, route } from "../../router.js";
import { isShaped, isVeiled, labelText, veiled } from "../../veil.js";
import { useSources } from "./sources.js";

/** @type {[string, string][]} */
const SCORES = [["macro_f1", "macro-F1"], ["accuracy", "accuracy"], ["edge_recall", "recall of the two rarest labels"]];

/** @param {{study: any}} props */
export function UtilityAnswer({ study }) {
  const { named } = useSources();
  const { asked, parameters } = study;
  const labels = Object.entries(study.labels).sort((a, b) => b[1] - a[1]);
  const rarest = labelText(labels.at(-1)?.[0] || "");
  const variants = parameters.exempt_rarest ? [0, parameters.exempt_rarest] : [0];
  return html`<section class="panel" aria-label="What was asked"><${Facts} facts=${[
      ...(asked ? [["Sources", asked.sources.map(named).join(", ")]] : []), ["Label", study.label], ["Features", study.features.join(", ")], ["Records", number(study.records)],
      ["Labels", `${labels.length}, rarest ${isVeiled(study.label, "sensitive") || isShaped(rarest) ? veiled(rarest) : rarest} (${number(labels.at(-1)?.[1])})`], ["Splits, trees, seed", `${number(parameters.repeats)}, ${number(parameters.trees)}, ${parameters.seed}`]]} />
      ${study.unlabelled > 0 && html`<p class="small soft">${number(study.unlabelled)} records have no label and were left out.</p>`}</section>
    ${variants.map((spared) => html`<${Scores} key=${spared} study=${study} rarest=${spared} />`)}`;
}

/** @param {{study: any, rarest: number}} props */
function Scores({ study, rarest }) {
  const { rest, params } = route.value;
  const byTau = params.x === "tau";
  const own = study.rows.filter((/** @type {any} */ row) => row.exempt_rarest === rarest || row.tau === 1);
  const rows = own.flatMap((/** @type {any} */ row) => SCORES.map(([name, title]) => ({ tau: row.tau, survival: row.survival, score: title, value: row[name], low: row.ci95[name]?.[0] ?? null, high: row.ci95[name]?.[1] ?? null, told: name === "macro_f1" ? `τ ${row.tau}` : "", repeats: row.repeats, untrained: row.untrained })));
  const last = own.at(-1);
  const [base, lost] = [own[0], own.find((/** @type {any} */ row) => row.edge_recall <= own[0].edge_recall / 2 && row.tau > 1)];
  const columns = [
    { name: "tau", title: "τ", number: true, show: asNumber }, { name: "survival", title: "Survival", number: true, show: asPercent }, { name: "score", title: "Score" },
    { name: "value", title: "Mean", number: true, show: asNumber }, { name: "low", title: "95 %, lower end", number: true, show: asNumber }, { name: "high", title: "upper end", number: true, show: asNumber },
    { name: "repeats", title: "Splits", number: true, show: asNumber }, { name: "untrained", title: "Untrained", number: true, show: asNumber },
  ];
  const change = (/** @type {any} */ event) => go(href("explore", rest, { ...params, x: event.target.value }), { quiet: true });
  return html`<section class="panel"><${Chart} title=${rarest ? `Utility, the ${rarest} rarest labels kept` : "Utility against survival"} rows=${rows} columns=${columns} height=${360} spec=${specOf(byTau, study.parameters.repeats > 1)} call=${{ method: "GET", path: `/utility/${study.id}` }}
      summary="Macro-F1 falls from ${number(base.macro_f1, 2)} at τ ${base.tau} to ${number(last.macro_f1, 2)} at τ ${last.tau}, where ${percent(last.survival)} survive" />
    <div class="row"><label class="field inline">Along<select value=${byTau ? "tau" : ""} onChange=${change}><option value="">survival</option><option value="tau">threshold τ</option></select></label>
      <span class="small soft grow">${lost && base.edge_recall > 0 ? html`<strong>At τ ${lost.tau} the recall of the two rarest labels is ${number(lost.edge_recall, 2)}, from ${number(base.edge_recall, 2)}</strong>: suppression takes the rare records first. ` : ""}${study.parameters.repeats > 1 ? "Bars: 95 % intervals over the splits." : "One split: no interval."}${last.untrained ? ` At τ ${last.tau} nothing was left to learn from in ${last.untrained} of ${last.repeats} splits.` : ""}</span></div></section>`;
}

/** @param {boolean} byTau @param {boolean} intervals */
function specOf(byTau, intervals) {
  const names = SCORES.map(([, title]) => title);
  const x = byTau
    ? { field: "tau", type: "ordinal", axis: { title: "threshold τ", labelAngle: 0 } }
    : { field: "survival", type: "quantitative", scale: { domain: [0, 1] }, axis: { format: ".0%", title: "records that survive", tickCount: 6 } };
  const color = { field: "score", type: "nominal", scale: { domain: names }, title: null, legend: { symbolOpacity: 1, symbolDash: [1, 0] } };
  const y = { field: "value", type: "quantitative", scale: { domain: [0, 1] }, axis: { title: "score", tickCount: 6 } };
  const offset = byTau ? { xOffset: { field: "score", sort: names } } : {};
  return {
    encoding: { x, color, ...offset },
    layer: [
      ...(intervals ? [{ transform: [{ filter: "isValid(datum.low)" }], mark: { type: "rule", opacity: 0.4, strokeWidth: 1.5 }, encoding: { y: { field: "low", type: "quantitative", scale: { domain: [0, 1] } }, y2: { field: "high" } } }] : []),
      ...(byTau ? [] : [{ mark: { type: "line", strokeWidth: 2 }, encoding: { y, order: { field: "tau", type: "quantitative" }, strokeDash: { field: "score", type: "nominal", scale: { domain: names, range: [[1, 0], [6, 3], [2, 2]] }, title: null } } }]),
      { mark: { type: "point", filled: true, size: 70, opacity: 1 }, encoding: { y, shape: { field: "score", type: "nominal", scale: { domain: names, range: ["circle", "square", "triangle-up"] }, title: null } } },
      ...(byTau ? [] : [{ mark: { type: "text", dy: -12, fontSize: 11 }, encoding: { y, text: { field: "told" } } }]),
    ],
  };
}
