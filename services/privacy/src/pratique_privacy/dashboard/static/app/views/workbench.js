// @ts-check
/** Workbench: this view is being built. */
import { html } from "../html.js";
import { Empty } from "../parts/empty.js";

export function Workbench() {
  return html`<h1>Workbench</h1>
    <${Empty} title="Not built yet"><p>The API has what belongs here: see <a href="/docs">/docs</a>.</p><//>`;
}
