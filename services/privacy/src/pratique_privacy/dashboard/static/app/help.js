// @ts-check
/** Help: the keys that act in this view. */
import { html, signal } from "./html.js";
import { bindings } from "./keyboard.js";

export const helpShown = signal(false);

export function Help() {
  const seen = new Map(bindings.value.map((binding) => [binding.key, binding]));
  return html`<section class="help" aria-label="Keys">
    <div class="row"><h2>Keys</h2><button type="button" class="quiet" onClick=${() => (helpShown.value = false)}>Close</button></div>
    <dl>${[...seen.values()].map((binding) => html`<dt><kbd>${binding.key}</kbd></dt><dd>${binding.does}</dd>`)}
      <dt><kbd>Tab</kbd> <kbd>←</kbd> <kbd>→</kbd></dt><dd>Move between controls, tabs and columns; <kbd>Esc</kbd> closes menus</dd></dl>
  </section>`;
}
