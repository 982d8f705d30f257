// @ts-check
/** API keys: made with a role, shown once, revoked. */
import { send } from "../../api.js";
import { age, moment } from "../../format.js";
import { html, useState } from "../../html.js";
import { Confirmed } from "../../parts/confirmed.js";
import { CopyMenu } from "../../parts/copy_menu.js";
import { GateBadge } from "../../parts/gate_badge.js";
import { ProblemBox } from "../../parts/problem.js";
import { Progress } from "../../parts/progress.js";
import { DataTable } from "../../parts/table.js";
import { useResource } from "../../resource.js";
import { caller } from "../../session.js";
import { ShownOnce } from "./shown_once.js";

/** @type {[string, string][]} */
const ROLES = [
  ["operator", "sends captures in, tries policies, releases"],
  ["recipient", "sees the releases to one name, without what was before"],
  ["auditor", "sees figures, certificates and the audit log, and no record"],
  ["admin", "may do everything, and makes keys"],
];

export function ApiKeys() {
  const found = useResource("/api-keys?limit=500");
  const [made, setMade] = useState(/** @type {any} */ (null));
  const [problem, setProblem] = useState(/** @type {any} */ (null));
  const revoke = (/** @type {string} */ id) => async () => {
    setProblem(null);
    try {
      await send("DELETE", `/api-keys/${id}`);
      found.again();
    } catch (error) {
      setProblem(error);
    }
  };
  const keys = found.body.value?.data;
  if (!keys) return found.problem.value ? html`<${ProblemBox} problem=${found.problem.value} again=${found.again} />` : html`<${Progress} label="Looking" />`;
  const columns = [
    { name: "name", title: "Key", show: (/** @type {string} */ name, /** @type {any} */ key) => html`${name || html`<span class="mono">${key.id}</span>`}${key.id === caller.value?.key ? html` <span class="soft">(this session)</span>` : ""}` },
    { name: "role", title: "Role" },
    { name: "recipient", title: "Recipient" },
    { name: "status", title: "Status", order: standing, show: (/** @type {any} */ _, /** @type {any} */ key) => html`<${GateBadge} verdict=${standing(key)} />` },
    { name: "expires_at", title: "Ends", show: (/** @type {string | null} */ value) => (value ? moment(value) : "when revoked") },
    { name: "created_at", title: "Made", show: (/** @type {string} */ value) => html`<time datetime=${value} title=${moment(value)}>${age(value)}</time>` },
    { name: "id", title: "Revoke", show: (/** @type {string} */ id, /** @type {any} */ key) => standing(key) === "in force" && id !== caller.value?.key && html`<${Confirmed} small=${true} word="Revoke" about=${key.name || id} sure="Revoke it" consequence="Whoever uses it is refused within seconds, for good." act=${revoke(id)} />` },
  ];
  return html`<${ProblemBox} problem=${problem} />
    ${made && html`<${ShownOnce} title="Key ${made.name || made.id}" use="Send it as Authorization: Bearer." secret=${made.key} away=${() => setMade(null)} />`}
    <section class="panel" aria-labelledby="keys"><header><h2 id="keys">API keys</h2><${CopyMenu} call=${{ method: "GET", path: "/api-keys" }} /></header>
      <${DataTable} caption="API keys" columns=${columns} rows=${keys} keyOf=${(/** @type {any} */ key) => key.id} /></section>
    <${NewKey} done=${(/** @type {any} */ key) => { setMade(key); found.again(); }} />`;
}

/** @param {any} key */
function standing(key) {
  if (key.revoked) return "revoked";
  return key.expires_at && Date.parse(key.expires_at) < Date.now() ? "expired" : "in force";
}

/** @param {{done: (key: any) => void}} props */
function NewKey({ done }) {
  const [given, setGiven] = useState({ role: "recipient", recipient: "", name: "", expires: "" });
  const [problem, setProblem] = useState(/** @type {any} */ (null));
  const field = (/** @type {"role" | "recipient" | "name" | "expires"} */ name) => ({ value: given[name], onInput: (/** @type {any} */ event) => setGiven({ ...given, [name]: event.target.value }) });
  const submit = async (/** @type {Event} */ event) => {
    event.preventDefault();
    setProblem(null);
    try {
      const expires = given.expires ? { expires_at: new Date(given.expires).toISOString() } : {};
      done(await send("POST", "/api-keys", { role: given.role, name: given.name.trim(), ...(given.role === "recipient" ? { recipient: given.recipient.trim() } : {}), ...expires }));
      setGiven({ ...given, name: "" });
    } catch (error) {
      setProblem(error);
    }
  };
  return html`<section class="panel" aria-labelledby="new-key"><h2 id="new-key">New key</h2>
    <form class="study-form" onSubmit=${submit}><div class="fields">
      <label class="field">Role<select value=${given.role} onChange=${(/** @type {any} */ event) => setGiven({ ...given, role: event.target.value })}>${ROLES.map(([role]) => html`<option value=${role}>${role}</option>`)}</select></label>
      ${given.role === "recipient" && html`<label class="field">Recipient<input required maxlength="100" placeholder="fl-aggregator-1" ...${field("recipient")} /></label>`}
      <label class="field">Name<input maxlength="200" placeholder="what it is for" ...${field("name")} /></label>
      <label class="field">Ends (empty: when revoked)<input type="datetime-local" ...${field("expires")} /></label></div>
      <p class="small soft">A key with this role ${ROLES.find(([role]) => role === given.role)?.[1]}.</p>
      <div class="row"><button class="primary">Make it</button></div></form>
    <${ProblemBox} problem=${problem} /></section>`;
}
