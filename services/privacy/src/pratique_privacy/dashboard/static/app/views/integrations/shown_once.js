// @ts-check
/** A secret that is shown once: to be copied now, hidden for good when it is put away. */
import { html, useState } from "../../html.js";

/** @param {{title: string, use: string, secret: string, away: () => void}} props */
export function ShownOnce({ title, use, secret, away }) {
  const [said, setSaid] = useState("");
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(secret);
      setSaid("Copied.");
    } catch {
      setSaid("Select the text and copy it: this page may not.");
    }
  };
  return html`<div class="note secret" role="status"><strong>${title}</strong><p>It is shown this once; only what verifies it is kept. ${use}</p>
    <span class="row"><input readonly value=${secret} aria-label=${title} onFocus=${(/** @type {any} */ event) => event.target.select()} /><button type="button" class="primary" onClick=${copy}>Copy</button><button type="button" onClick=${away}>I have kept it</button></span>
    <span class="small">${said}</span></div>`;
}
