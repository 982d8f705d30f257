// @ts-check
/** An empty state: that there is nothing yet, and the next step. */
import { html } from "../html.js";

/** @param {{title: string, children?: any}} props */
export function Empty({ title, children }) {
  return html`<section class="empty"><h2>${title}</h2>${children}</section>`;
}
