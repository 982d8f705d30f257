// @ts-check
/** What is shown for a view that there is not, or that the role may not see. */
import { html } from "./html.js";
import { Empty } from "./parts/empty.js";
import { href } from "./router.js";
import { viewsOf } from "./views.js";

export function NotYours() {
  const first = viewsOf()[0];
  return html`<${Empty} title="This page is not for you">
    <p>The address names no view, or one that the role of your key may not see. Ask for a key of another role, or go to
      ${first && html` <a href=${href(first.name)}>${first.title}</a>`}.</p>
  <//>`;
}
