// @ts-check
/** The sources that a study can be made of, with their names; and the fields to choose them. */
import { html } from "../../html.js";
import { useResource } from "../../resource.js";
import { go, href, route } from "../../router.js";
import { may } from "../../session.js";
import { nameOf } from "../captures/list.js";

/** Captures that are ready and have a host, and tables; undefined until they are known. */
export function useSources() {
  const [captures, tables] = [useResource(may("operator") ? "/captures?limit=200" : null), useResource(may("operator") ? "/datasets?limit=200" : null)];
  const known = captures.body.value && tables.body.value;
  const found = known ? [...captures.body.value.data.filter((/** @type {any} */ one) => one.status === "ready" && one.records), ...tables.body.value.data] : undefined;
  const names = Object.fromEntries((found || []).map((one) => [one.id, nameOf(one)]));
  return { found, problem: captures.problem.value || tables.problem.value, named: (/** @type {string} */ id) => names[id] || `…${id.slice(-6)}` };
}

/** The parameters of the form in the address, and a way to change some of them. @param {string} kind @param {Record<string, string>} defaults */
export function useParams(kind, defaults) {
  const { params } = route.value;
  const given = /** @type {Record<string, string>} */ ({ ...defaults, ...params });
  const change = (/** @type {Record<string, string | undefined>} */ next) => go(href("explore", [kind, "new"], { ...route.peek().params, ...next }), { quiet: true });
  const field = (/** @type {string} */ name) => ({ name, value: given[name] ?? "", onInput: (/** @type {any} */ event) => change({ [name]: event.target.value }) });
  return { given, change, field };
}

/** @param {string | undefined} text */
export function listed(text) {
  return (text || "").split(",").filter(Boolean);
}

/** Tick boxes for a list that stands in the address. @param {{legend: string, choices: {name: string, title: any}[], chosen: string[], choose: (names: string[]) => void}} props */
export function Ticks({ legend, choices, chosen, choose }) {
  const toggle = (/** @type {string} */ name) => choose(choices.map((one) => one.name).filter((one) => (one === name ? !chosen.includes(one) : chosen.includes(one))));
  return html`<fieldset class="ticks"><legend>${legend}</legend>
    ${choices.map(({ name, title }) => html`<label class="tick" key=${name}><input type="checkbox" checked=${chosen.includes(name)} onChange=${() => toggle(name)} /> <span>${title}</span></label>`)}</fieldset>`;
}

/** What a row of captures is. @param {{field: any, shown: boolean}} props */
export function UnitField({ field, shown }) {
  if (!shown) return null;
  const { onInput, ...rest } = field("unit");
  return html`<label class="field">A row is<select ...${rest} onChange=${onInput}><option value="host">a host</option><option value="session">a session</option></select></label>`;
}
