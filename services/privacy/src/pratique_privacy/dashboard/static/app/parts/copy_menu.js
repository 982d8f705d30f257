// @ts-check
/** Copy as: the same thing as an API call, as Python, as a policy. */
import { asCurl, asPython } from "../calls.js";
import { html, useState } from "../html.js";
import { Menu } from "./menu.js";

/** @param {{call?: import("../calls.js").Call | (() => import("../calls.js").Call), policy?: unknown}} props */
export function CopyMenu({ call, policy }) {
  const made = () => (typeof call === "function" ? call() : call);
  /** @type {[string, () => string][]} */
  const ways = [];
  if (call) ways.push(["API call", () => asCurl(/** @type {any} */ (made()))], ["Python", () => asPython(/** @type {any} */ (made()))]);
  if (policy !== undefined) ways.push(["Policy", () => JSON.stringify(policy, null, 2)]);
  return html`<${Menu} label="Copy as ▾" title="Copy as an API call, Python or a policy">${() => html`<${Ways} ways=${ways} />`}<//>`;
}

/** @param {{ways: [string, () => string][]}} props */
function Ways({ ways }) {
  const [text, setText] = useState("");
  const [said, setSaid] = useState("");
  const copy = async (/** @type {string} */ name, /** @type {string} */ made) => {
    setText(made);
    try {
      await navigator.clipboard.writeText(made);
      setSaid(`${name} copied`);
    } catch {
      setSaid("Select the text below and copy it: this page may not.");
    }
  };
  return html`${ways.map(([name, make]) => html`<button type="button" onClick=${() => copy(name, make())}>${name}</button>`)}
    <span class="small soft" role="status">${said}</span>
    ${text && html`<textarea class="copied-text" readonly aria-label="What was copied" onFocus=${(/** @type {any} */ event) => event.target.select()}>${text}</textarea>`}`;
}
