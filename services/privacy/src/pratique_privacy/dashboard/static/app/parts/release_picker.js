// @ts-check
/** A picker of releases: those that are measured, newest first, by name, age and verdict. */
import { age } from "../format.js";
import { html } from "../html.js";
import { useResource } from "../resource.js";

/** @param {{label: string, chosen: string | undefined, choose: (id: string) => void, releases: any[] | undefined}} props */
export function ReleasePicker({ label, chosen, choose, releases = [] }) {
  const missing = chosen && !releases.some((one) => one.id === chosen);
  return html`<label class="field release-picker">${label}
    <select data-search value=${chosen || ""} onChange=${(/** @type {any} */ event) => choose(event.target.value)}>
      ${!chosen && html`<option value="">Choose a release</option>`}
      ${missing && html`<option value=${chosen}>${chosen}</option>`}
      ${releases.map((one) => html`<option key=${one.id} value=${one.id}>${one.name || one.id} · ${one.verdict || one.status} · ${age(one.created_at)}</option>`)}
    </select></label>`;
}

/** The newest hundred releases that have figures; undefined until they are known. */
export function useMeasured() {
  const found = useResource("/releases?limit=100");
  const releases = found.body.value?.data.filter((/** @type {any} */ one) => one.moments.measured);
  return { releases, problem: found.problem.value, again: found.again };
}
