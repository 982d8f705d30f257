// @ts-check
/** Risk: this view is being built. */
import { html } from "../html.js";
import { Empty } from "../parts/empty.js";

export function Risk() {
  return html`<h1>Risk</h1>
    <${Empty} title="Not built yet"><p>The API has what belongs here: see <a href="/docs">/docs</a>.</p><//>`;
}
