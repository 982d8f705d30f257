// @ts-check
/** The release: for whom and what for, asked for, and followed until its verdict. */
import { follow, get, send } from "../../api.js";
import { html, signal, useEffect, useRef, useState } from "../../html.js";
import { CopyMenu } from "../../parts/copy_menu.js";
import { GateBadge } from "../../parts/gate_badge.js";
import { ProblemBox } from "../../parts/problem.js";
import { Progress } from "../../parts/progress.js";
import { href } from "../../router.js";
import { requestOf } from "./bench.js";
import { bench, problem as stuck } from "./desk.js";

/** A table too large to try is released all the same: the service measures it whole. */
const TOO_LARGE = ["preview-too-large", "too-many-records"];
const ENDED = ["completed", "failed", "cancelled"];

/** What was filled in; it outlasts a look at another view, and a session that ends meanwhile. */
const about = signal({ recipient: "", purpose: "", name: "" });

export function ReleaseForm() {
  const now = bench.value;
  const [made, setMade] = useState(/** @type {any} */ (null));
  const [problem, setProblem] = useState(/** @type {any} */ (null));
  const [busy, setBusy] = useState(false);
  const stop = useRef(() => {});
  const told = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => () => stop.current(), []);
  useEffect(() => told.current?.scrollIntoView({ block: "nearest" }), [made?.id, made?.status]);
  if (!now) return null;
  const body = () => ({
    ...requestOf(now),
    gate: now.gate,
    ...(now.pilot ? { pilot: now.pilot } : {}),
    ...Object.fromEntries(Object.entries(about.value).filter(([, text]) => text.trim())),
  });
  const submit = async (/** @type {Event} */ event) => {
    event.preventDefault();
    setBusy(true);
    setProblem(null);
    try {
      const release = await send("POST", "/releases", body(), { once: true });
      setMade(release);
      stop.current();
      stop.current = follow(`/releases/${release.id}/events`, (snapshot) => {
        setMade(snapshot);
        if (ENDED.includes(snapshot.status)) stop.current();
      }, () => get(`/releases/${release.id}`).then(setMade, setProblem));
    } catch (error) {
      setProblem(error);
    }
    setBusy(false);
  };
  const field = (/** @type {"recipient" | "purpose" | "name"} */ name, /** @type {string} */ title) =>
    html`<label class="field">${title}<input name=${name} maxlength="200" value=${about.value[name]} onInput=${(/** @type {any} */ event) => (about.value = { ...about.value, [name]: event.target.value })} /></label>`;
  return html`<section class="panel" aria-label="Release"><header><h2>Release</h2><${CopyMenu} call=${() => ({ method: "POST", path: "/releases", body: body() })} /></header>
    <form class="release-form" onSubmit=${submit}>
      ${field("recipient", "Recipient")}${field("purpose", "Purpose")}${field("name", "Name")}
      <button class="primary" disabled=${busy || (!!stuck.value && !TOO_LARGE.includes(stuck.value.code))}>${busy ? "Asking …" : "Release what passes the gate"}</button>
    </form>
    <p class="small soft">The service measures it anew, attacks it, and publishes only what passes.</p>
    <${ProblemBox} problem=${problem} />
    ${made && html`<div class="note" role="status" aria-label="The release asked for" ref=${told}>
      <div class="row"><strong>${made.name || made.id}</strong><${GateBadge} verdict=${made.verdict || made.status} /></div>
      ${!ENDED.includes(made.status) && html`<${Progress} label=${made.progress?.stage || made.status} share=${made.progress?.total ? made.progress.done / made.progress.total : null} />`}
      ${made.error && html`<${ProblemBox} problem=${made.error} />`}
      <a href=${href("releases", [made.id])}>${made.verdict === "pass" ? "Certificate, files and posture" : "See the release"}</a></div>`}
  </section>`;
}
