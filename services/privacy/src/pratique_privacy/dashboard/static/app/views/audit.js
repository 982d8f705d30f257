// @ts-check
/** Audit: who did what to which object, and whether the chains of the log hold. */
import { html } from "../html.js";
import { ChainVerdict } from "./audit/chain.js";
import { Entries } from "./audit/entries.js";

export function Audit() {
  return html`<h1>Audit</h1><${ChainVerdict} /><${Entries} />`;
}
