// @ts-check
/** The form of a utility study: what is predicted from what, at which thresholds. */
import { html, useEffect, useState } from "../../html.js";
import { send } from "../../api.js";
import { ProblemBox } from "../../parts/problem.js";
import { Progress } from "../../parts/progress.js";
import { Asking, NoSource } from "./asking.js";
import { Ticks, UnitField, listed, useParams, useSources } from "./sources.js";

const DEFAULTS = { unit: "host", taus: "1, 2, 3, 5, 8, 12", repeats: "20", trees: "400", exempt: "0", seed: "1" };
const HOST = { label: "role", features: ["protocol_count", "packets", "peer_count"] };

/** @param {{begun: (id: string) => void}} props */
export function UtilityForm({ begun }) {
  const { given, change, field } = useParams("utility", DEFAULTS);
  const sources = useSources();
  const source = given.source || sources.found?.[0]?.id;
  const { columns, problem } = useColumns(source, given.unit);
  if (!sources.found) return sources.problem ? html`<${ProblemBox} problem=${sources.problem} />` : html`<${Progress} label="Looking" />`;
  if (!sources.found.length) return html`<${NoSource} />`;
  const names = (columns || []).map((/** @type {any} */ one) => one.column);
  const label = names.includes(given.label) ? given.label : labelOf(columns || []);
  const usual = HOST.features.filter((name) => names.includes(name));
  const chosen = (given.features ? listed(given.features) : usual.length ? usual : names.filter((/** @type {string} */ name) => name !== label)).filter((name) => names.includes(name) && name !== label);
  const taus = given.taus.split(/[\s,;]+/).filter(Boolean).map(Number);
  const body = { ...(given.name ? { name: given.name } : {}), sources: source ? [source] : [], unit: given.unit, label, features: chosen, taus, repeats: Number(given.repeats), trees: Number(given.trees), exempt_rarest: Number(given.exempt), seed: Number(given.seed) };
  const missing = !columns ? "Its columns are being read." : !chosen.length ? "Tick a feature." : "";
  const only = { label: undefined, features: undefined };
  return html`<${Asking} title="New utility study" path="utility" body=${body} missing=${missing} begun=${begun}>
    <${ProblemBox} problem=${problem} />
    <div class="fields"><label class="field">Name<input maxlength="200" ...${field("name")} /></label>
      <label class="field">Source<select value=${source} onChange=${(/** @type {any} */ event) => change({ ...only, source: event.target.value })}>${sources.found.map((one) => html`<option value=${one.id}>${sources.named(one.id)}</option>`)}</select></label>
      <${UnitField} field=${field} shown=${source?.startsWith("cap_")} />
      <label class="field">Label to predict<select value=${label} onChange=${(/** @type {any} */ event) => change({ label: event.target.value })}>${names.map((/** @type {string} */ name) => html`<option value=${name}>${name}</option>`)}</select></label></div>
    <${Ticks} legend="Features" choices=${names.filter((/** @type {string} */ name) => name !== label).map((/** @type {string} */ name) => ({ name, title: name }))} chosen=${chosen} choose=${(/** @type {string[]} */ found) => change({ features: found.join(",") || "," })} />
    <div class="fields"><label class="field">Thresholds τ<input required pattern="[0-9][0-9 ,;]*" ...${field("taus")} /></label>
      <label class="field">Repeated splits<input type="number" min="1" max="1000" required ...${field("repeats")} /></label>
      <label class="field">Trees of the forest<input type="number" min="1" max="2000" required ...${field("trees")} /></label>
      <label class="field">Rarest labels kept, once more<input type="number" min="0" max="1000" required ...${field("exempt")} /></label>
      <label class="field">Seed<input type="number" min="0" required ...${field("seed")} /></label></div>
  <//>`;
}

/** The columns of a source with what the service thinks each is. @param {string | undefined} source @param {string} unit */
export function useColumns(source, unit) {
  const [found, setFound] = useState(/** @type {{columns?: any[], problem?: any}} */ ({}));
  useEffect(() => {
    if (!source) return undefined;
    const stop = new AbortController();
    setFound({});
    const asked = source.startsWith("dst_") ? { dataset: source } : { capture: source, unit };
    send("POST", "/classify", { source: asked }, { signal: stop.signal })
      .then((answer) => setFound({ columns: answer.columns }))
      .catch((problem) => !stop.signal.aborted && setFound({ problem }));
    return () => stop.abort();
  }, [source, unit]);
  return { columns: found.columns, problem: found.problem };
}

/** @param {any[]} columns */
function labelOf(columns) {
  const names = columns.map((one) => one.column);
  return names.includes(HOST.label) ? HOST.label : (columns.find((one) => one.class === "sensitive") || columns.at(-1))?.column;
}
