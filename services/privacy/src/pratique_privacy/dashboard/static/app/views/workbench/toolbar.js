// @ts-check
/** The toolbar: the source, where a policy comes from, undo and redo, the least loss, and copies. */
import { html, signal, useEffect, useState } from "../../html.js";
import { getAll, send } from "../../api.js";
import { CopyMenu } from "../../parts/copy_menu.js";
import { Menu } from "../../parts/menu.js";
import { ProblemBox } from "../../parts/problem.js";
import { nameOf } from "../captures/list.js";
import { attributesOf, laidOut, requestOf, under } from "./bench.js";
import { advice, bench, change, history, open } from "./desk.js";
import { LeastLoss } from "./least_loss.js";

/** Counts what was put on the shelf, so that the list is read anew. */
const shelved = signal(0);

/** @param {{sources: any[]}} props */
export function Toolbar({ sources }) {
  const now = bench.value;
  return html`<section class="panel toolbar" aria-label="Source and policy">
    <label class="field">Source
      <select data-search value=${now?.source || ""} onChange=${(/** @type {any} */ event) => open(event.target.value)}>
        ${sources.map((source) => html`<option key=${source.id} value=${source.id}>${nameOf(source)}</option>`)}
      </select></label>
    ${now?.source.startsWith("cap_") && html`<label class="field">A row is
      <select value=${now.unit} onChange=${(/** @type {any} */ event) => open(now.source, event.target.value)}>
        <option value="host">a host</option><option value="session">a session</option></select></label>`}
    <${Shelf} />
    <div class="row buttons">
      <button type="button" disabled=${!history.undoable.value} title=${history.undoable.value ? `Undo: ${history.undoable.value} (u)` : "Nothing to undo"} onClick=${() => history.undo()}>↶ Undo</button>
      <button type="button" disabled=${!history.redoable.value} title=${history.redoable.value ? `Redo: ${history.redoable.value} (r)` : "Nothing to redo"} onClick=${() => history.redo()}>↷ Redo</button>
      <${LeastLoss} />
      <${Keep} />
      ${now && html`<${CopyMenu} call=${() => ({ method: "POST", path: "/preview", body: requestOf(now) })} policy=${{ steps: now.steps }} />`}
    </div>
  </section>`;
}

/** Keep the policy on the shelf under a name, with the classes and the gate that it goes with. */
function Keep() {
  const now = bench.value;
  const [name, setName] = useState("");
  const [said, setSaid] = useState("");
  const [problem, setProblem] = useState(/** @type {any} */ (null));
  const keep = async (/** @type {Event} */ event) => {
    event.preventDefault();
    if (!now) return;
    setSaid("");
    setProblem(null);
    try {
      const kept = await send("PUT", `/policies/${encodeURIComponent(name.trim())}`, { steps: now.steps, attributes: attributesOf(now), gate: now.gate });
      setSaid(`Kept as ${kept.name}, version ${kept.version}.`);
      shelved.value += 1;
    } catch (error) {
      setProblem(error);
    }
  };
  return html`<${Menu} label="Keep ▾" title="Keep this policy under a name" quiet=${false}>
    <form class="keep" onSubmit=${keep}><label class="field">Name of the policy
      <input value=${name} required maxlength="100" pattern="[A-Za-z0-9][A-Za-z0-9._\\-]*" onInput=${(/** @type {any} */ event) => setName(event.target.value)} /></label>
      <button class="primary" disabled=${!now}>Keep</button><span class="small" role="status">${said}</span><${ProblemBox} problem=${problem} /></form>
  <//>`;
}

/** Built-in and stored policies; choosing one is one step that can be undone. The list shows the one that stands: arrow keys go on from there. */
function Shelf() {
  const [policies, setPolicies] = useState(/** @type {any[]} */ ([]));
  const [stands, setStands] = useState(/** @type {{name: string, bench: any}} */ ({ name: "", bench: null }));
  useEffect(() => {
    getAll("/policies").then(setPolicies, () => setPolicies([]));
  }, [shelved.value]);
  const now = bench.value;
  const choose = (/** @type {any} */ event) => {
    const name = event.target.value;
    if (!now || !name) return;
    const policy = policies.find((entry) => entry.name === name);
    if (name === "suggested") change({ ...laidOut(now.source, now.unit, now.pilot, advice.value), gate: now.gate, ppi: now.ppi }, "suggested classes");
    else if (policy) change(under(now, policy), `policy ${name}`);
    setStands({ name, bench: bench.value });
  };
  const option = (/** @type {any} */ entry) => html`<option key=${entry.name} value=${entry.name}>${entry.name}${entry.title ? `: ${entry.title}` : ""}</option>`;
  const own = policies.filter((entry) => !entry.built_in);
  return html`<label class="field">Start from
    <select value=${stands.bench === now ? stands.name : ""} disabled=${!now} onChange=${choose}>
      <option value="">Choose a policy …</option>
      <option value="suggested">Suggested classes and steps</option>
      <optgroup label="Built in">${policies.filter((entry) => entry.built_in).map(option)}</optgroup>
      ${own.length > 0 && html`<optgroup label="Stored">${own.map(option)}</optgroup>`}
    </select></label>`;
}
