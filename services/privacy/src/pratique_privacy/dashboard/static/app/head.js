// @ts-check
/** The head: the name, the views, who is signed in, the theme. */
import { html, useEffect, useRef } from "./html.js";
import { helpShown } from "./help.js";
import { href, route } from "./router.js";
import { caller, signOut } from "./session.js";
import { shown } from "./sight.js";
import { theme } from "./theme.js";
import { viewsOf } from "./views.js";

const MARK = new URL("../style/mark.svg", import.meta.url).href;

export function Head() {
  const who = caller.value;
  const here = route.value.view;
  const views = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => shown(views.current, "[aria-current]"), [here]);
  return html`<header class="head">
    <a class="brand" href=${href(viewsOf()[0]?.name || "releases")}><img src=${MARK} alt="" /><span>Pratique</span></a>
    <nav class="views" aria-label="Views" ref=${views}>
      ${viewsOf().map((view) => html`<a key=${view.name} href=${href(view.name)} aria-current=${view.name === here ? "page" : undefined}>${view.title}</a>`)}
    </nav>
    <div class="who">
      <span class="name">${who?.role}${who?.recipient ? ` ${who.recipient}` : ""}</span>
      <label><span class="hidden-text">Colours</span>
        <select value=${theme.value} onChange=${(/** @type {any} */ event) => (theme.value = event.target.value)}>
          <option value="system">System</option><option value="light">Light</option><option value="dark">Dark</option>
        </select></label>
      <button type="button" class="quiet" title="Keys (?)" aria-pressed=${helpShown.value} onClick=${() => (helpShown.value = !helpShown.value)}>Keys</button>
      <button type="button" class="quiet" onClick=${signOut}>Sign out</button>
    </div>
  </header>`;
}
