// @ts-check
/** The form of a sweep: sources, groups of them, configurations, adversaries and seed, all in the address. */
import { plural } from "../../format.js";
import { html } from "../../html.js";
import { ProblemBox } from "../../parts/problem.js";
import { Progress } from "../../parts/progress.js";
import { useResource } from "../../resource.js";
import { Asking, NoSource } from "./asking.js";
import { Ticks, UnitField, listed, useParams, useSources } from "./sources.js";
import { useColumns } from "./utility_form.js";

const DEFAULTS = { configurations: "C0,C1,C2,C3,C4,C5,C6,C7", unit: "host", seed: "1", repetitions: "20" };

/** @param {{begun: (id: string) => void}} props */
export function SweepForm({ begun }) {
  const { given, change, field } = useParams("sweeps", DEFAULTS);
  const sources = useSources();
  const policies = useResource("/policies?limit=200");
  const first = listed(given.sources)[0] || sources.found?.[0]?.id;
  const { columns } = useColumns(given.taus ? first : undefined, given.unit);
  if (!sources.found || !policies.body.value) return sources.problem || policies.problem.value ? html`<${ProblemBox} problem=${sources.problem || policies.problem.value} />` : html`<${Progress} label="Looking" />`;
  if (!sources.found.length) return html`<${NoSource} />`;
  const chosen = listed(given.sources ?? sources.found[0].id);
  const groups = Object.fromEntries(listed(given.groups).map((entry) => /** @type {[string, string]} */ (entry.split(":").map(decodeURIComponent))));
  const usable = policies.body.value.data.filter((/** @type {any} */ one) => one.built_in || one.attributes);
  const configurations = listed(given.configurations);
  const taus = (given.taus || "").split(/[\s,;]+/).filter(Boolean).map(Number);
  const known = usable.filter((/** @type {any} */ one) => configurations.includes(one.name));
  const further = taus.flatMap((tau) => known.map((/** @type {any} */ one) => suppressed(one, tau, (columns || []).map((/** @type {any} */ each) => each.column))));
  const body = bodyOf({ given, chosen, configurations: [...configurations, ...further], groups });
  const missing = !chosen.length ? "Tick a source." : !configurations.length ? "Tick a configuration." : taus.length && !columns ? "Its columns are being read." : "";
  const regroup = (/** @type {string} */ id, /** @type {string} */ name) => change({ groups: Object.entries({ ...groups, [id]: name }).filter(([, group]) => group).map((entry) => entry.map(encodeURIComponent).join(":")).join(",") });
  const titles = sources.found.map((one) => ({ name: one.id, title: sources.named(one.id) }));
  return html`<${Asking} title="New sweep" path="sweeps" body=${body} missing=${missing} begun=${begun}>
    <label class="field">Name<input maxlength="200" ...${field("name")} /></label>
    <div class="grid-2"><${Ticks} legend="Sources" choices=${titles} chosen=${chosen} choose=${(/** @type {string[]} */ ids) => change({ sources: ids.join(",") || "," })} />
      <${Ticks} legend="Configurations" choices=${usable.map((/** @type {any} */ one) => ({ name: one.name, title: one.title ? `${one.name}: ${one.title}` : one.name }))} chosen=${configurations} choose=${(/** @type {string[]} */ names) => change({ configurations: names.join(",") || "," })} /></div>
    ${chosen.length > 1 && html`<fieldset class="fields"><legend>Groups (figures come by group too)</legend>${chosen.map((id) => html`<label class="field" key=${id}>${sources.named(id)}<input maxlength="100" placeholder="no group" value=${groups[id] || ""} onInput=${(/** @type {any} */ event) => regroup(id, event.target.value)} /></label>`)}</fieldset>`}
    <div class="fields"><label class="field" title="Records whose class is smaller than τ are taken out">Each again with class support at τ<input placeholder="none" pattern="[0-9 ,;]*" ...${field("taus")} /></label>
      <${UnitField} field=${field} shown=${chosen.some((id) => id.startsWith("cap_"))} />
      <label class="field">Repetitions of each adversary<input type="number" min="1" max="10000" required ...${field("repetitions")} /></label>
      <label class="field">Seed<input type="number" min="0" required ...${field("seed")} /></label></div>
    <p class="small soft">${plural(chosen.length * body.configurations.length, "release")} will be measured.</p>
  <//>`;
}

/** @param {{given: Record<string, string>, chosen: string[], configurations: any[], groups: Record<string, string>}} found */
function bodyOf({ given, chosen, configurations, groups }) {
  /** @type {Record<string, string[]>} */
  const named = {};
  for (const id of chosen) if (groups[id]) (named[groups[id]] ??= []).push(id);
  return {
    ...(given.name ? { name: given.name } : {}),
    sources: chosen,
    unit: given.unit,
    ...(Object.keys(named).length ? { groups: named } : {}),
    configurations,
    attacks: { partial_qi: {}, linkage: {}, repetitions: Number(given.repetitions) },
    seed: Number(given.seed),
  };
}

/** A policy with suppression of small classes behind its steps; columns that it does not name are dropped, as they are for a built-in. @param {any} policy @param {number} tau @param {string[]} columns */
function suppressed(policy, tau, columns) {
  const clean = (/** @type {any} */ step) => Object.fromEntries(Object.entries(step).filter(([, value]) => value !== null));
  const named = Object.values(policy.attributes).flatMap((list) => (Array.isArray(list) ? list : []));
  const drop = [...policy.attributes.drop, ...columns.filter((column) => !named.includes(column))];
  return { name: `${policy.name} τ ${tau}`, policy: { steps: [...policy.steps.map(clean), { op: "class_support", tau }] }, attributes: { ...policy.attributes, drop } };
}
