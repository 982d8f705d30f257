// @ts-check
/** What can be done with a source: to the workbench with it, or delete it; deleting asks once, in place. */
import { send } from "../../api.js";
import { html, useState } from "../../html.js";
import { CopyMenu } from "../../parts/copy_menu.js";
import { ProblemBox } from "../../parts/problem.js";
import { go, href } from "../../router.js";

/** @param {{kind: "captures" | "datasets", id: string, ready: boolean, gone: () => void}} props */
export function SourceActions({ kind, id, ready, gone }) {
  const [asked, setAsked] = useState(false);
  const [problem, setProblem] = useState(/** @type {any} */ (null));
  const remove = async () => {
    try {
      await send("DELETE", `/${kind}/${id}`);
      go(href("captures"), { quiet: true });
      gone();
    } catch (error) {
      setProblem(error);
    }
  };
  return html`<div class="row">
    ${ready && html`<a class="as-button primary" href=${href("workbench", [], { source: id })}>Open in the workbench</a>`}
    <${CopyMenu} call=${{ method: "GET", path: `/${kind}/${id}` }} />
    ${asked
      ? html`<span role="alert">Raw bytes and records are gone for good; releases stay.</span>
          <button type="button" class="danger" onClick=${remove}>Delete for good</button>
          <button type="button" onClick=${() => setAsked(false)}>Keep</button>`
      : html`<button type="button" class="quiet" onClick=${() => setAsked(true)}>Delete …</button>`}
    <${ProblemBox} problem=${problem} />
  </div>`;
}
