// @ts-check
/** Progress: how far something is, as a bar and in words. */
import { html } from "../html.js";

/** @param {{label: string, share?: number | null, words?: string}} props; without a share it is not known how far */
export function Progress({ label, share, words }) {
  const known = typeof share === "number";
  return html`<div class="progress">
    <span class="row small"><span>${label}</span><span class="soft number">${words ?? (known ? `${Math.round(share * 100)} %` : "")}</span></span>
    <progress aria-label=${label} max="1" value=${known ? share : undefined}></progress>
  </div>`;
}
