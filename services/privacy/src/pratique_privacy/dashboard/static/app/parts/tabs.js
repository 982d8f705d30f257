// @ts-check
/** Tabs (WAI-ARIA): arrows move between them, and the chosen one names the panel. */
import { html, useEffect, useId, useRef } from "../html.js";
import { alongArrows } from "../keyboard.js";
import { shown } from "../sight.js";

/** @param {{label: string, tabs: {name: string, title: any}[], chosen: string, choose: (name: string) => void, children?: any}} props */
export function Tabs({ label, tabs, chosen, choose, children }) {
  const id = useId();
  const row = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => shown(row.current, "[aria-selected=true]"), [chosen]);
  return html`<div class="tabs" ref=${row} role="tablist" aria-label=${label} onKeyDown=${(/** @type {any} */ event) => alongArrows(event, "button")}>
      ${tabs.map(({ name, title }) => html`<button type="button" role="tab" key=${name} id="${id}-${name}" aria-controls="${id}-panel"
        aria-selected=${name === chosen} tabindex=${name === chosen ? 0 : -1} onClick=${() => choose(name)}>${title}</button>`)}
    </div>
    ${children !== undefined && html`<div role="tabpanel" id="${id}-panel" aria-labelledby="${id}-${chosen}">${children}</div>`}`;
}
