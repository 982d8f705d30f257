// @ts-check
/** The form of further adversaries: its parameters stand in the address, so that a run can be sent to a colleague. */
import { send } from "../../api.js";
import { html, useState } from "../../html.js";
import { CopyMenu } from "../../parts/copy_menu.js";
import { ProblemBox } from "../../parts/problem.js";
import { go, href, route } from "../../router.js";

const DEFAULTS = { partial: "1", linkage: "1", forget: "0.5", accuracy: "0.8", wrong: "uniform", repetitions: "20", seed: "1" };

/** @param {{id: string, posture: any, started: () => void}} props */
export function Form({ id, posture, started }) {
  const [problem, setProblem] = useState(/** @type {any} */ (null));
  const [busy, setBusy] = useState(false);
  const { rest, params } = route.value;
  const given = /** @type {Record<string, string>} */ ({ ...DEFAULTS, ...ranWith(posture.attacks), ...params });
  const change = (/** @type {string} */ name, /** @type {string} */ value) => go(href("attacks", rest, { ...params, [name]: value }), { quiet: true });
  const field = (/** @type {string} */ name) => ({ name, value: given[name], onInput: (/** @type {any} */ event) => change(name, event.target.value) });
  const tick = (/** @type {string} */ name) => ({ type: "checkbox", checked: given[name] === "1", onChange: (/** @type {any} */ event) => change(name, event.target.checked ? "1" : "0") });
  const body = bodyOf(given);
  const submit = async (/** @type {Event} */ event) => {
    event.preventDefault();
    setBusy(true);
    setProblem(null);
    try {
      await send("POST", `/releases/${id}/attacks`, body, { once: true });
      started();
    } catch (error) {
      setProblem(error);
    }
    setBusy(false);
  };
  const none = !body.partial_qi && !body.linkage;
  return html`<section class="panel" aria-labelledby="run"><header><h2 id="run">Run others</h2><${CopyMenu} call=${{ method: "POST", path: `/releases/${id}/attacks`, body }} /></header>
    <p class="small soft">On the same released records. The gate, the posture and the certificate stay as they are.</p>
    <form class="adversaries" onSubmit=${submit}>
      <fieldset><legend><label><input ...${tick("partial")} /> Partial QI</label></legend>
        <${Share} label="Chance that a field is forgotten" disabled=${given.partial !== "1"} field=${field("forget")} /></fieldset>
      <fieldset><legend><label><input ...${tick("linkage")} /> Linkage</label></legend>
        <${Share} label="Chance that a field is right" disabled=${given.linkage !== "1"} field=${field("accuracy")} />
        <label class="field">A wrong value is drawn from<select disabled=${given.linkage !== "1"} name="wrong" value=${given.wrong} onChange=${(/** @type {any} */ event) => change("wrong", event.target.value)}>
          <option value="uniform">all values of the column</option><option value="exclude">all but the true one</option></select></label></fieldset>
      <div class="pair"><label class="field">Repetitions<input type="number" min="1" max="10000" step="1" required ...${field("repetitions")} /></label>
        <label class="field">Seed<input type="number" min="0" step="1" required ...${field("seed")} /></label></div>
      <div class="row"><button class="primary" disabled=${busy || none}>${busy ? "Starting …" : "Run"}</button>${none && html`<span class="small soft">Tick one of the two.</span>`}</div>
    </form>
    <${ProblemBox} problem=${problem} />
  </section>`;
}

/** @param {{label: string, disabled: boolean, field: any}} props */
function Share({ label, disabled, field }) {
  return html`<div class="share"><label class="field">${label}<input type="number" min="0" max="1" step="0.01" required disabled=${disabled} ...${field} /></label>
    <input type="range" min="0" max="1" step="0.01" aria-label="${label}, as a slider" disabled=${disabled} value=${field.value} onInput=${field.onInput} /></div>`;
}

/** The parameters of the release's own adversaries, to begin with. @param {any} attacks */
function ranWith(attacks) {
  const known = attacks?.partial_qi || attacks?.linkage;
  if (!known) return {};
  const told = { repetitions: String(known.repetitions), seed: String(known.seed) };
  const forget = attacks.partial_qi ? { forget: String(attacks.partial_qi.parameters.forget) } : {};
  const linkage = attacks.linkage ? { accuracy: String(attacks.linkage.parameters.accuracy), wrong: attacks.linkage.parameters.wrong_value } : {};
  return { ...told, ...forget, ...linkage };
}

/** @param {Record<string, string>} given */
function bodyOf(given) {
  return {
    partial_qi: given.partial === "1" ? { forget: Number(given.forget) } : null,
    linkage: given.linkage === "1" ? { accuracy: Number(given.accuracy), wrong_value: given.wrong } : null,
    repetitions: Number(given.repetitions),
    seed: Number(given.seed),
  };
}
