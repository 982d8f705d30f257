// @ts-check
/** The gate floor: bounds that every later release is held to, whatever it asks. */
import { send } from "../../api.js";
import { html, useEffect, useState } from "../../html.js";
import { CopyMenu } from "../../parts/copy_menu.js";
import { Facts } from "../../parts/facts.js";
import { ProblemBox } from "../../parts/problem.js";
import { Progress } from "../../parts/progress.js";
import { useResource } from "../../resource.js";
import { may } from "../../session.js";
import { figureOf, kindOf } from "../releases/words.js";

/** @type {[string, "min" | "max", string][]} metric, the side that tightens, step of the field */
const BOUNDS = [
  ["k", "min", "1"], ["l", "min", "1"], ["t", "max", "any"], ["uniques", "max", "1"], ["share_below_k", "max", "any"], ["ppi", "min", "any"], ["exact_qi", "max", "any"],
  ["partial_qi", "max", "any"], ["linkage", "max", "any"], ["all_columns.uniques", "max", "1"], ["composition.uniques", "max", "1"], ["survival", "min", "any"],
];

export function GateFloor() {
  const found = useResource("/gate-floor");
  const gate = found.body.value?.gate;
  if (!gate) return found.problem.value ? html`<${ProblemBox} problem=${found.problem.value} again=${found.again} />` : html`<${Progress} label="Looking" />`;
  const call = { method: "GET", path: "/gate-floor" };
  return html`<section class="panel" aria-labelledby="floor"><header><h2 id="floor">Gate floor</h2>${!may("admin") && html`<${CopyMenu} call=${call} />`}</header>
    <p class="small soft">Every later release of this tenant is held to these bounds; a request can tighten them and not loosen them. Releases that have their verdict keep it.</p>
    ${may("admin") ? html`<${FloorForm} key=${JSON.stringify(gate)} gate=${gate} />` : Object.keys(gate).length ? html`<${Facts} facts=${factsOf(gate)} />` : html`<p class="soft">No bound is set. An admin can set one.</p>`}</section>`;
}

/** @param {any} gate @returns {[string, string][]} */
function factsOf(gate) {
  return Object.entries(gate).map(([metric, bound]) => [kindOf(metric).title, [[bound.min, "at least"], [bound.max, "at most"]].filter(([limit]) => typeof limit === "number").map(([limit, words]) => `${words} ${figureOf(metric, limit)}`).join(", ")]);
}

/** @param {{gate: any}} props */
function FloorForm({ gate }) {
  const [given, setGiven] = useState(/** @type {Record<string, string>} */ (fieldsOf(gate)));
  const [said, setSaid] = useState("");
  const [problem, setProblem] = useState(/** @type {any} */ (null));
  useEffect(() => setProblem(null), [given]);
  const body = { gate: gateOf(gate, given) };
  const submit = async (/** @type {Event} */ event) => {
    event.preventDefault();
    setSaid("");
    try {
      const floor = await send("PUT", "/gate-floor", body);
      const count = Object.keys(floor.gate).length;
      setSaid(count ? "Kept: it holds for every release from now on." : "Kept: there is no floor now.");
    } catch (error) {
      setProblem(error);
    }
  };
  return html`<form class="study-form" onSubmit=${submit}><div class="fields">${BOUNDS.map(([metric, side, step]) => html`<label class="field" key=${metric} title=${kindOf(metric).definition}>${kindOf(metric).title} ${side === "min" ? "at least" : "at most"}${kindOf(metric).shown === "percent" ? " (share, 0 to 1)" : ""}
      <input type="number" min="0" step=${step} placeholder="no bound" value=${given[metric] ?? ""} onInput=${(/** @type {any} */ event) => setGiven({ ...given, [metric]: event.target.value })} /></label>`)}</div>
    <div class="row"><button class="primary">Keep this floor</button><${CopyMenu} call=${() => ({ method: "PUT", path: "/gate-floor", body })} /><span class="small" role="status">${said}</span></div>
    <${ProblemBox} problem=${problem} /></form>`;
}

/** @param {any} gate */
function fieldsOf(gate) {
  return Object.fromEntries(BOUNDS.map(([metric, side]) => [metric, String(gate[metric]?.[side] ?? "")]));
}

/** The gate with the fields of the form put in; bounds that the form does not show stay. @param {any} gate @param {Record<string, string>} given */
function gateOf(gate, given) {
  const next = structuredClone(gate);
  for (const [metric, side] of BOUNDS) {
    const bound = Object.fromEntries(Object.entries({ ...next[metric], [side]: given[metric] === "" ? null : Number(given[metric]) }).filter(([, limit]) => limit !== null));
    if (Object.keys(bound).length) next[metric] = bound;
    else delete next[metric];
  }
  return next;
}
