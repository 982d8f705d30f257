// @ts-check
/** Releases: this view is being built. */
import { html } from "../html.js";
import { Empty } from "../parts/empty.js";

export function Releases() {
  return html`<h1>Releases</h1>
    <${Empty} title="Not built yet"><p>The API has what belongs here: see <a href="/docs">/docs</a>.</p><//>`;
}
