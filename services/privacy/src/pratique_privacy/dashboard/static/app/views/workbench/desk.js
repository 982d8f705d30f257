// @ts-check
/** The desk: the bench that is worked on, its history, its preview, and the address that holds it. */
import { get, send } from "../../api.js";
import { batch, computed, effect, signal } from "../../html.js";
import { go, href, route } from "../../router.js";
import { pack, unpack } from "../../state.js";
import { History } from "../../undo.js";
import { laidOut, readBench, requestOf, sourceOf } from "./bench.js";

/** @typedef {import("./bench.js").Bench} Bench */

const SETTLE = 120; // milliseconds without a change before a preview is asked for
const IDLE = 500; // .. before suggestions are
export const SHOWN_ROWS = 200;

/** @type {History<Bench | null>} */
export const history = new History(/** @type {Bench | null} */ (null));
export const bench = history.present;
/** What the service thinks each column is. @type {import("@preact/signals").Signal<import("./bench.js").Advice[]>} */
export const advice = signal([]);
/** The last preview that answered. @type {import("@preact/signals").Signal<any>} */
export const preview = signal(null);
/** What would help, and the request that it was said of: on another it would change the wrong step. @type {import("@preact/signals").Signal<{request: string, found: any[]} | null>} */
export const suggestions = signal(/** @type {any} */ (null));
/** Why the present bench has no preview. @type {import("@preact/signals").Signal<any>} */
export const problem = signal(null);
export const busy = signal(false);
export const took = signal(0);
const DAMAGED = { code: "address-damaged", detail: "The address does not hold a whole workbench: choose a source." };
/** Counts what was laid on the desk: answers come in any order. */
let turns = 0;
/** The packed bench that the address holds. */
let packed = "";
export const asked = computed(() => bench.value && JSON.stringify(requestOf(bench.value)));

/** Make a change that can be undone. @param {Bench} next @param {string} label */
export function change(next, label) {
  history.apply(next, label);
}

/** Lay out a source anew, its columns classed as suggested. @param {string} source @param {string} [unit] */
export async function open(source, unit = "host") {
  await lay({ source, unit }, async (columns) => {
    const about = await get(`/${source.startsWith("dst_") ? "datasets" : "captures"}/${source}`);
    return laidOut(source, unit, about.pilot, columns);
  });
}

/** Take up the bench that an address holds. @param {string} text */
export async function restore(text) {
  const found = await unpack(text);
  packed = text;
  if (typeof found?.source !== "string") problem.value = DAMAGED;
  else await lay(found, async (columns) => readBench(found, columns));
}

/** Clear the desk and lay something on it, unless something else was asked for in the meantime. @param {{source: string, unit: string}} what @param {(columns: import("./bench.js").Advice[]) => Promise<Bench | null>} made */
async function lay(what, made) {
  const turn = (turns += 1);
  clear();
  try {
    const columns = await classified(what);
    const next = await made(columns);
    if (turn !== turns) return;
    advice.value = columns;
    if (next) history.restart(next);
    else problem.value = DAMAGED;
  } catch (error) {
    if (turn === turns) problem.value = error;
  }
}

function clear() {
  batch(() => {
    history.restart(null);
    preview.value = null;
    suggestions.value = null;
    problem.value = null;
    advice.value = [];
  });
}

/** @param {{source: string, unit: string}} bench */
async function classified(bench) {
  const answer = await send("POST", "/classify", { source: sourceOf(/** @type {Bench} */ (bench)) });
  return answer.columns;
}

/** While the workbench is shown: preview what changes, and keep the address; returns what ends it. */
export function attend() {
  const stopPreview = effect(() => previewed(asked.value));
  const stopAddress = effect(() => {
    const now = bench.value;
    if (now) pack(now).then((text) => told(text, now));
  });
  return () => {
    stopPreview();
    stopAddress();
  };
}

/** @param {string} text @param {Bench} now */
function told(text, now) {
  if (now !== bench.peek() || route.peek().view !== "workbench") return;
  packed = text;
  go(href("workbench", [], { s: text }), { quiet: true });
}

/** Follow an address that was typed, clicked or gone back to. @param {Record<string, string>} params */
export function follow(params) {
  if (params.s) return params.s === packed ? undefined : restore(params.s);
  if (params.source && params.source !== bench.peek()?.source) return open(params.source);
  if (bench.peek() && packed) go(href("workbench", [], { s: packed }), { quiet: true });
  return undefined;
}

/** @param {string | null} request @returns {(() => void) | undefined} */
function previewed(request) {
  if (!request) return undefined;
  const stop = new AbortController();
  const first = preview.peek() === null;
  const timers = [setTimeout(() => figures(request, stop.signal), first ? 0 : SETTLE), setTimeout(() => advised(request), SETTLE + IDLE)];
  return () => {
    timers.forEach(clearTimeout);
    stop.abort();
  };
}

/** @param {string} request @param {AbortSignal} stop */
async function figures(request, stop) {
  busy.value = true;
  const began = performance.now();
  try {
    const body = await send("POST", "/preview", { ...JSON.parse(request), ...pilotOf(), rows: SHOWN_ROWS, suggest: false }, { signal: stop });
    batch(() => {
      preview.value = body;
      problem.value = null;
      took.value = performance.now() - began;
    });
  } catch (error) {
    if (stop.aborted) return; // a later one is under way
    problem.value = error;
  }
  if (!stop.aborted) busy.value = false;
}

let advising = false;

/** Ask for suggestions, one question at a time: they take seconds, and no figure should wait behind them. @param {string} request */
async function advised(request) {
  if (advising) return;
  advising = true;
  try {
    const body = await send("POST", "/preview", { ...JSON.parse(request), ...pilotOf(), rows: 0, suggest: true });
    suggestions.value = { request, found: body.suggestions };
  } catch {
    suggestions.value = null; // the figures tell why
  }
  advising = false;
  const now = asked.peek();
  if (now && now !== request) setTimeout(() => now === asked.peek() && advised(now), IDLE);
}

function pilotOf() {
  const pilot = bench.peek()?.pilot;
  return pilot ? { pilot } : {};
}
