// @ts-check
/** The router: which view is shown and with what, all of it in the part of the address behind `#`. */
import { signal } from "@preact/signals";

/** @typedef {{view: string, rest: string[], params: Record<string, string>}} Route */

export const FIRST_VIEW = "captures";

/** The route as it is now. @type {import("@preact/signals").Signal<Route>} */
export const route = signal(parse(location.hash));
/** The address that `route` was read from: while another stands in its place, the reader is on the way there. */
let read = location.hash;

addEventListener("hashchange", follow);

function follow() {
  read = location.hash;
  route.value = parse(read);
}

/** @param {string} hash @returns {Route} */
export function parse(hash) {
  const [path, query = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  const [view, ...rest] = path.split("/").map(decoded);
  return { view: view || FIRST_VIEW, rest, params: Object.fromEntries(new URLSearchParams(query)) };
}

/** Part of an address as it was meant; one that was damaged on its way stays as it is. @param {string} part */
export function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** The address of a view: `href("releases", ["rel_..."], {tab: "gate"})`. @param {string} view @param {string[]} [rest] @param {Record<string, string | undefined>} [params] */
export function href(view, rest = [], params = {}) {
  const given = /** @type {[string, string][]} */ (Object.entries(params).filter(([, value]) => value !== undefined && value !== ""));
  const query = new URLSearchParams(given).toString();
  return `#/${[view, ...rest].map(encodeURIComponent).join("/")}${query && `?${query}`}`;
}

/** Go to an address of `href`; with `quiet` without an entry of its own in the browser's history, and not if the reader has gone elsewhere. @param {string} address @param {{quiet?: boolean}} [options] */
export function go(address, options = {}) {
  if (location.hash === address) return;
  if (!options.quiet) location.hash = address;
  else if (location.hash === read) replaced(address);
}

/** Take what stands behind `#` out of the address and out of the history: it was a secret. */
export function forget() {
  replaced(location.pathname);
}

/** @param {string} address */
function replaced(address) {
  history.replaceState(null, "", address);
  follow();
}
