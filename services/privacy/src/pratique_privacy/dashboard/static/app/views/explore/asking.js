// @ts-check
/** Asking: the frame of a form that sends a study off and shows why it cannot stand. */
import { send } from "../../api.js";
import { html, useState } from "../../html.js";
import { CopyMenu } from "../../parts/copy_menu.js";
import { Empty } from "../../parts/empty.js";
import { ProblemBox } from "../../parts/problem.js";
import { href } from "../../router.js";

/** @param {{title: string, path: string, body: any, missing: string, begun: (id: string) => void, children: any}} props; `missing` says what is to be filled in */
export function Asking({ title, path, body, missing, begun, children }) {
  const [problem, setProblem] = useState(/** @type {any} */ (null));
  const [busy, setBusy] = useState(false);
  const submit = async (/** @type {Event} */ event) => {
    event.preventDefault();
    setBusy(true);
    setProblem(null);
    try {
      begun((await send("POST", `/${path}`, body, { once: true })).id);
    } catch (error) {
      setProblem(error);
      setBusy(false);
    }
  };
  return html`<section class="panel" aria-labelledby="ask"><header><h2 id="ask">${title}</h2><${CopyMenu} call=${() => ({ method: "POST", path: `/${path}`, body })} /></header>
    <form class="study-form" onSubmit=${submit}>${children}
      <div class="row"><button class="primary" disabled=${busy || !!missing}>${busy ? "Starting …" : "Start"}</button>${missing && html`<span class="small soft">${missing}</span>`}</div></form>
    <${ProblemBox} problem=${problem} /></section>`;
}

export function NoSource() {
  return html`<${Empty} title="There is nothing to study yet"><p>Send a capture or a table in under <a href=${href("captures")}>Captures</a>; once it is ready it can be chosen here.</p><//>`;
}
