// @ts-check
/** Webhooks: made, looked into, deleted. */
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
import { go, href, route } from "../../router.js";
import { Deliveries } from "./deliveries.js";
import { ShownOnce } from "./shown_once.js";

/** @type {[string, string][]} */
const EVENTS = [["release.completed", "a release has its verdict"], ["release.failed", "a release failed"], ["release.cancelled", "a release was cancelled"], ["release.withdrawn", "a release was withdrawn"], ["capture.ready", "a capture is profiled"], ["capture.failed", "a capture failed"]];

export function Webhooks() {
  const found = useResource("/webhooks?limit=100");
  const [problem, setProblem] = useState(/** @type {any} */ (null));
  const [made, setMade] = useState(/** @type {any} */ (null));
  const chosen = route.value.rest[1];
  const hooks = found.body.value?.data;
  const remove = (/** @type {string} */ id) => async () => {
    if (chosen === id) go(href("integrations", ["webhooks"])); // first: its deliveries are looked up while they are shown
    try {
      await send("DELETE", `/webhooks/${id}`);
      found.again();
    } catch (error) {
      setProblem(error);
    }
  };
  if (!hooks) return found.problem.value ? html`<${ProblemBox} problem=${found.problem.value} again=${found.again} />` : html`<${Progress} label="Looking" />`;
  const columns = [
    { name: "name", title: "Webhook", show: (/** @type {string} */ name, /** @type {any} */ hook) => html`<a href=${href("integrations", ["webhooks", hook.id])}>${name || hook.id}</a>` },
    { name: "url", title: "Address", show: (/** @type {string} */ url) => html`<span class="mono broken">${url}</span>` },
    { name: "events", title: "Hears of", show: (/** @type {string[]} */ events) => (events.length === EVENTS.length ? "everything" : events.join(", ")) },
    { name: "recipient", title: "Releases of" },
    { name: "status", title: "Status", show: (/** @type {string} */ status) => html`<${GateBadge} verdict=${status} />` },
    { name: "created_at", title: "Made", show: (/** @type {string} */ value) => html`<time datetime=${value} title=${moment(value)}>${age(value)}</time>` },
    { name: "delete", title: "Delete", show: (/** @type {any} */ _, /** @type {any} */ hook) => html`<${Confirmed} small=${true} word="Delete" about=${hook.name || hook.url} sure="Delete it" consequence="Its secret is gone and what is owed to it is dropped." act=${remove(hook.id)} />` },
  ];
  return html`<${ProblemBox} problem=${problem} />
    ${made && html`<${ShownOnce} title="Secret of ${made.name || made.url}" use="Its receiver checks the signature of each message with it (Standard Webhooks)." secret=${made.secret} away=${() => setMade(null)} />`}
    <section class="panel" aria-labelledby="hooks"><header><h2 id="hooks">Webhooks</h2><${CopyMenu} call=${{ method: "GET", path: "/webhooks" }} /></header>
      ${hooks.length ? html`<${DataTable} caption="Webhooks" columns=${columns} rows=${hooks} keyOf=${(/** @type {any} */ hook) => hook.id} />` : html`<p class="soft">None yet. Give an address below, and it is told of what happens from then on.</p>`}</section>
    ${chosen && hooks.some((/** @type {any} */ hook) => hook.id === chosen) && html`<${Deliveries} key=${chosen} id=${chosen} />`}
    <${NewWebhook} done=${(/** @type {any} */ hook) => { setMade(hook); setProblem(null); found.again(); }} />`;
}

/** @param {{done: (hook: any) => void}} props */
function NewWebhook({ done }) {
  const [given, setGiven] = useState({ url: "", name: "", recipient: "", events: EVENTS.map(([name]) => name) });
  const [problem, setProblem] = useState(/** @type {any} */ (null));
  const body = { url: given.url.trim(), events: given.events, name: given.name.trim(), ...(given.recipient.trim() ? { recipient: given.recipient.trim() } : {}) };
  const field = (/** @type {"url" | "name" | "recipient"} */ name) => ({ value: given[name], onInput: (/** @type {any} */ event) => setGiven({ ...given, [name]: event.target.value }) });
  const toggle = (/** @type {string} */ name) => setGiven({ ...given, events: EVENTS.map(([event]) => event).filter((event) => (event === name) !== given.events.includes(event)) });
  const submit = async (/** @type {Event} */ event) => {
    event.preventDefault();
    setProblem(null);
    try {
      done(await send("POST", "/webhooks", body, { once: true }));
      setGiven({ ...given, url: "", name: "" });
    } catch (error) {
      setProblem(error);
    }
  };
  return html`<section class="panel" aria-labelledby="new-hook"><header><h2 id="new-hook">New webhook</h2><${CopyMenu} call=${() => ({ method: "POST", path: "/webhooks", body })} /></header>
    <form class="study-form" onSubmit=${submit}>
      <div class="fields"><label class="field wide">Address (https, or one on the allow-list)<input type="url" required placeholder="https://hooks.example.com/pratique" maxlength="2000" ...${field("url")} /></label>
        <label class="field">Name<input maxlength="200" ...${field("name")} /></label>
        <label class="field">Only releases of this recipient<input maxlength="100" placeholder="anybody's" ...${field("recipient")} /></label></div>
      <fieldset class="ticks"><legend>It is told when</legend>${EVENTS.map(([name, words]) => html`<label class="tick" key=${name}><input type="checkbox" checked=${given.events.includes(name)} onChange=${() => toggle(name)} /> <span>${words}</span></label>`)}</fieldset>
      <div class="row"><button class="primary" disabled=${!given.events.length}>Make it</button>${!given.events.length && html`<span class="small soft">Tick one event at least.</span>`}</div></form>
    <${ProblemBox} problem=${problem} /></section>`;
}
