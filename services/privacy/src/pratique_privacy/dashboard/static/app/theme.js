// @ts-check
/** The theme: that of the system, or light or dark by choice, kept in this browser. */
import { effect, signal } from "@preact/signals";

const STORED = "pratique-theme";
const dark = matchMedia("(prefers-color-scheme: dark)");

/** @type {import("@preact/signals").Signal<"system" | "light" | "dark">} */
export const theme = signal(/** @type {any} */ (stored()) || "system");
/** Counts the changes of the colours, so that what is drawn with them can be drawn anew. */
export const repaint = signal(0);

dark.addEventListener("change", () => (repaint.value += 1));
effect(() => {
  const chosen = theme.value;
  if (chosen === "system") {
    delete document.documentElement.dataset.theme;
    store(null);
  } else {
    document.documentElement.dataset.theme = chosen;
    store(chosen);
  }
  repaint.value = repaint.peek() + 1;
});

/** What this browser keeps; one that may keep nothing has no choice stored. */
function stored() {
  try {
    return localStorage.getItem(STORED);
  } catch {
    return null;
  }
}

/** @param {string | null} chosen */
function store(chosen) {
  try {
    if (chosen) localStorage.setItem(STORED, chosen);
    else localStorage.removeItem(STORED);
  } catch {
    // The choice holds until the page is left.
  }
}

/** The value of a design token as it is now: `token("--ink")`. @param {string} name */
export function token(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
