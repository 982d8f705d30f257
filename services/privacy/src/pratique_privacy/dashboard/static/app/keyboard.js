// @ts-check
/** The keyboard: single keys that act where nobody is writing, listed by `?`. */
import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";

/** @typedef {{key: string, does: string, act: () => void}} Binding */

/** The bindings in force, the latest last. @type {import("@preact/signals").Signal<Binding[]>} */
export const bindings = signal([]);

addEventListener("keydown", (event) => {
  const chord = event.ctrlKey || event.metaKey;
  if (event.altKey || event.defaultPrevented || writing(event.target, chord)) return;
  const pressed = chord ? `Ctrl+${event.shiftKey ? "Shift+" : ""}${event.key.toUpperCase()}` : event.key;
  const found = bindings.value.findLast((binding) => binding.key === pressed);
  if (!found) return;
  event.preventDefault();
  found.act();
});

/** Let keys act while a component is shown. @param {Binding[]} given */
export function useKeys(given) {
  useEffect(() => {
    bindings.value = [...bindings.peek(), ...given];
    return () => {
      bindings.value = bindings.peek().filter((binding) => !given.includes(binding));
    };
  }, []);
}

/** Move the focus along the controls that match a selector with the arrow keys (WAI-ARIA: roving focus). @param {KeyboardEvent} event @param {string} selector */
export function alongArrows(event, selector) {
  const steps = /** @type {Record<string, number>} */ ({ ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 });
  const step = steps[event.key];
  if (!step) return;
  const all = /** @type {HTMLElement[]} */ ([.../** @type {HTMLElement} */ (event.currentTarget).querySelectorAll(selector)]);
  const here = all.indexOf(/** @type {HTMLElement} */ (document.activeElement));
  if (here < 0) return;
  event.preventDefault();
  all[(here + step + all.length) % all.length].focus();
}

/** Whether a key belongs to the control that has the focus: letters choose in a list, chords do not. @param {EventTarget | null} target @param {boolean} chord */
function writing(target, chord) {
  if (!(target instanceof HTMLElement)) return false;
  const kinds = ["checkbox", "radio", "button", "range", "file"];
  const text = target.matches("textarea") || (target instanceof HTMLInputElement && !kinds.includes(target.type));
  return target.isContentEditable || text || (target.matches("select") && !chord);
}
