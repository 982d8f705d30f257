// @ts-check
/** Warnings of a capture: what could not be read, in the words of the service, with the count and the code. */
import { plural } from "../../format.js";
import { html } from "../../html.js";

/** @param {{warnings: {code: string, count: number, detail: string}[], complete: boolean | null}} props */
export function Warnings({ warnings, complete }) {
  if (!warnings.length && complete !== false) return null;
  return html`<section class="note warnings" aria-label="Warnings">
    ${complete === false && html`<p><strong>The capture is cut:</strong> what stands behind the cut was not read.</p>`}
    <ul>${warnings.map((warning) => html`<li key=${warning.code}>
      <strong class="number">${plural(warning.count, "time")}</strong>: ${warning.detail}. <code class="soft">${warning.code}</code></li>`)}</ul>
  </section>`;
}
