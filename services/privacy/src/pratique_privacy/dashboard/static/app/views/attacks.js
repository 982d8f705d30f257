// @ts-check
/** Attacks: this view is being built. */
import { html } from "../html.js";
import { Empty } from "../parts/empty.js";

export function Attacks() {
  return html`<h1>Attacks</h1>
    <${Empty} title="Not built yet"><p>The API has what belongs here: see <a href="/docs">/docs</a>.</p><//>`;
}
