// @ts-check
/** Audit: this view is being built. */
import { html } from "../html.js";
import { Empty } from "../parts/empty.js";

export function Audit() {
  return html`<h1>Audit</h1>
    <${Empty} title="Not built yet"><p>The API has what belongs here: see <a href="/docs">/docs</a>.</p><//>`;
}
