// @ts-check
/** The form of a recommendation: what each column is, which gate is to be passed, how long the search may take. */
import { html } from "../../html.js";
import { ProblemBox } from "../../parts/problem.js";
import { Progress } from "../../parts/progress.js";
import { useResource } from "../../resource.js";
import { CLASSES, attributesOf, laidOut, sourceOf } from "../workbench/bench.js";
import { Asking, NoSource } from "./asking.js";
import { UnitField, listed, useParams, useSources } from "./sources.js";
import { useColumns } from "./utility_form.js";

/** Bounds that the form offers: name in the gate, title, side, step of the field. @type {[string, string, "min" | "max", string][]} */
const BOUNDS = [
  ["k", "k at least", "min", "1"],
  ["l", "l at least", "min", "1"],
  ["t", "t at most", "max", "0.01"],
  ["uniques", "unique records at most", "max", "1"],
  ["exact_reid", "exact re-identification at most", "max", "0.01"],
  ["partial_qi", "partial-QI adversary at most", "max", "0.01"],
  ["survival", "survival at least", "min", "0.01"],
];
const DEFAULTS = { unit: "host", k: "5", taus: "2, 3, 5, 8, 12", seconds: "60" };

/** @param {{begun: (id: string) => void}} props */
export function RecommendationForm({ begun }) {
  const { given, change, field } = useParams("recommendations", DEFAULTS);
  const sources = useSources();
  const source = given.source || sources.found?.[0]?.id;
  const about = useResource(source ? `/${source.startsWith("dst_") ? "datasets" : "captures"}/${source}` : null).body.value;
  const { columns, problem } = useColumns(source, given.unit);
  if (!sources.found) return sources.problem ? html`<${ProblemBox} problem=${sources.problem} />` : html`<${Progress} label="Looking" />`;
  if (!sources.found.length) return html`<${NoSource} />`;
  const bench = columns && about && source ? benchOf(source, given, about.pilot, columns) : null;
  const body = bench && bodyOf(bench, given);
  const reclass = (/** @type {string} */ column, /** @type {string} */ chosen) => {
    const others = listed(given.as).filter((entry) => entry.split(":")[0] !== encodeURIComponent(column));
    change({ as: [...others, `${encodeURIComponent(column)}:${chosen}`].join(",") });
  };
  const missing = !bench ? "Its columns are being read." : !attributesOf(bench).quasi_identifiers.length ? "Call a column a quasi-identifier." : !Object.keys(body?.gate || {}).length ? "Give one bound at least." : "";
  return html`<${Asking} title="New recommendation" path="recommendations" body=${body} missing=${missing} begun=${begun}>
    <${ProblemBox} problem=${problem} />
    <div class="fields"><label class="field">Source<select value=${source} onChange=${(/** @type {any} */ event) => change({ source: event.target.value, as: undefined })}>${sources.found.map((one) => html`<option value=${one.id}>${sources.named(one.id)}</option>`)}</select></label>
      <${UnitField} field=${field} shown=${source?.startsWith("cap_")} />
      <label class="field">Seconds at most<input type="number" min="1" max="900" required ...${field("seconds")} /></label>
      <label class="field">Thresholds τ to try<input pattern="[0-9 ,;]*" ...${field("taus")} /></label></div>
    <fieldset class="fields"><legend>Gate (an empty field bounds nothing)</legend>${BOUNDS.map(([name, title, , step]) => html`<label class="field" key=${name}>${title}<input type="number" min="0" step=${step} ...${field(name)} /></label>`)}</fieldset>
    <fieldset class="fields classes"><legend>What each column is (preset by the suggestions)</legend>
      ${bench && (columns || []).map((/** @type {any} */ one) => html`<label class="field" key=${one.column} title=${one.reason}><code>${one.column}</code><select aria-label="Class of ${one.column}" value=${bench.classes[one.column]} onChange=${(/** @type {any} */ event) => reclass(one.column, event.target.value)}>${CLASSES.map(([name, title]) => html`<option value=${name}>${title}</option>`)}</select></label>`)}</fieldset>
  <//>`;
}

/** @param {string} source @param {Record<string, string>} given @param {string | null} pilot @param {any[]} columns */
function benchOf(source, given, pilot, columns) {
  const bench = laidOut(source, given.unit, pilot, columns);
  for (const entry of listed(given.as)) {
    const [column, chosen] = entry.split(":").map(decodeURIComponent);
    if (column in bench.classes) bench.classes[column] = /** @type {any} */ (chosen);
  }
  return bench;
}

/** @param {import("../workbench/bench.js").Bench} bench @param {Record<string, string>} given */
function bodyOf(bench, given) {
  const gate = Object.fromEntries(BOUNDS.filter(([name]) => (given[name] || "") !== "").map(([name, , side]) => [name, { [side]: Number(given[name]) }]));
  const steps = bench.steps.filter((step) => bench.classes[step.column] === "identifier");
  const taus = given.taus.split(/[\s,;]+/).filter(Boolean).map(Number);
  return { source: sourceOf(bench), attributes: attributesOf(bench), policy: { steps }, gate, taus, ...(bench.pilot ? { pilot: bench.pilot } : {}), budget: { seconds: Number(given.seconds) } };
}
