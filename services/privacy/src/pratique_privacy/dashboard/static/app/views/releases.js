// @ts-check
/** Releases: the list, the life of one, and two side by side. */
import { html } from "../html.js";
import { route } from "../router.js";
import { Comparison } from "./releases/compare.js";
import { ReleaseList } from "./releases/list.js";
import { OneRelease } from "./releases/one.js";

export function Releases() {
  const [first] = route.value.rest;
  if (first === "compare") return html`<${Comparison} />`;
  if (first) return html`<${OneRelease} key=${first} id=${first} />`;
  return html`<${ReleaseList} />`;
}
