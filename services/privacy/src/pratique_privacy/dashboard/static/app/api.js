// @ts-check
/** The public API: JSON in and out, refusals as problems, entity tags kept, uploads that tell how far they are. */

/** @typedef {{pointer: string, detail: string}} WrongField */

/** A refusal (RFC 9457), or no answer at all (status 0). */
export class ApiProblem extends Error {
  /** @param {{status: number, code: string, title?: string, detail?: string, errors?: WrongField[], request_id?: string}} found */
  constructor(found) {
    super(found.detail || found.title || found.code);
    this.status = found.status;
    this.code = found.code;
    this.title = found.title || "Refused";
    this.detail = found.detail || "";
    this.errors = found.errors || [];
    this.requestId = found.request_id || "";
  }
}

const RETRY = 5000; // milliseconds until a refused stream of events is asked for again

const DOUBLE = 2000; // .. within which the same thing, pressed for again, is not meant twice

/** Names of what was sent and may be sent again. @type {Map<string, string>} */
const attempts = new Map();
/** @type {Map<string, {tag: string, body: any}>} */
const kept = new Map();
/** @type {(() => void)[]} */
const signedOut = [];

/** Call back when the API says that nobody is signed in any more. @param {() => void} callback */
export function onSignedOut(callback) {
  signedOut.push(callback);
}

/** Get JSON; an answer with an entity tag is kept and asked for anew with it. @param {string} path @param {{signal?: AbortSignal}} [options] */
export async function get(path, options = {}) {
  const known = kept.get(path);
  const headers = { Accept: "application/json", ...(known ? { "If-None-Match": known.tag } : {}) };
  const answer = await ask(path, { headers, signal: options.signal, cache: "no-store" });
  if (answer.status === 304 && known) return known.body;
  const body = await read(answer);
  const tag = answer.headers.get("ETag");
  if (tag) kept.set(path, { tag, body });
  return body;
}

/** Every entry of a list, page after page, up to `most`. @param {string} path @param {number} [most] */
export async function getAll(path, most = 1000) {
  return (await getSome(path, most)).found;
}

/** Entries of a list behind a cursor, up to `most`, and the cursor behind them. @param {string} path @param {number} most @param {string} [cursor] @returns {Promise<{found: any[], next: string}>} */
export async function getSome(path, most, cursor = "") {
  const found = [];
  let next = cursor;
  do {
    const page = await get(`${path}${path.includes("?") ? "&" : "?"}limit=${Math.min(most, 500)}${next && `&after=${encodeURIComponent(next)}`}`);
    found.push(...page.data);
    next = page.next || "";
  } while (next && found.length < most);
  return { found, next };
}

/**
 * Send a body and read the answer. `wait` seconds may pass until the thing asked for is finished; `once` makes it
 * one thing however often it is sent: pressed twice, or once more where no answer came.
 * @param {"POST" | "PUT" | "DELETE"} method @param {string} path @param {unknown} [body]
 * @param {{signal?: AbortSignal, wait?: number, once?: boolean}} [options]
 */
export async function send(method, path, body, options = {}) {
  /** @type {Record<string, string>} */
  const headers = { Accept: "application/json" };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (options.wait) headers.Prefer = `wait=${options.wait}`;
  const text = body === undefined ? undefined : JSON.stringify(body);
  const attempt = `${method} ${path} ${text}`;
  if (options.once) headers["Idempotency-Key"] = named(attempt);
  const answer = await ask(path, { method, headers, body: text, signal: options.signal });
  if (answer.status < 500) setTimeout(() => attempts.delete(attempt), answer.ok ? DOUBLE : 0);
  return read(answer);
}

/** The name of an attempt, the same until it was answered and the second press of a double click is over. @param {string} attempt */
function named(attempt) {
  const name = attempts.get(attempt) || freshName();
  attempts.set(attempt, name);
  return name;
}

/**
 * Upload a file as it is; `tell` hears how much of it was sent. The answer comes as soon as the file is durable.
 * @param {string} path @param {Blob} file @param {string} media @param {(sent: number, total: number) => void} tell
 * @returns {{done: Promise<any>, abort: () => void}}
 */
export function upload(path, file, media, tell) {
  const request = new XMLHttpRequest();
  const done = new Promise((resolve, reject) => {
    request.open("POST", path);
    request.setRequestHeader("Content-Type", media);
    request.setRequestHeader("Accept", "application/json");
    request.upload.onprogress = (event) => tell(event.loaded, event.total || file.size);
    request.onerror = () => reject(unreachable());
    request.onabort = () => reject(new DOMException("stopped", "AbortError"));
    request.onload = () => {
      const body = parsed(request.responseText);
      if (request.status < 300) resolve(body);
      else reject(problem(request.status, body));
    };
    request.send(file);
  });
  return { done, abort: () => request.abort() };
}

/**
 * Follow Server-Sent Events; every event holds a whole snapshot. A browser gives a refused stream up: `lost` hears of
 * it (an ordinary request tells why), and it is asked for again. Returns what ends it.
 * @param {string} path @param {(snapshot: any) => void} tell @param {() => void} lost
 */
export function follow(path, tell, lost) {
  /** @type {EventSource} */
  let source;
  let timer = 0;
  const hear = (/** @type {MessageEvent} */ event) => {
    const snapshot = parsed(event.data);
    if (snapshot) tell(snapshot);
  };
  const open = () => {
    source = new EventSource(path);
    for (const kind of ["release", "study"]) source.addEventListener(kind, /** @type {any} */ (hear));
    source.onerror = () => {
      if (source.readyState !== EventSource.CLOSED) return; // else the browser asks again by itself
      timer = setTimeout(open, RETRY);
      lost();
    };
  };
  open();
  return () => {
    clearTimeout(timer);
    source.close();
  };
}

/** 128 random bits; `randomUUID` is missing where a page came by plain http. */
function freshName() {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** @param {string} path @param {RequestInit} options */
async function ask(path, options) {
  try {
    return await fetch(path, { credentials: "same-origin", ...options });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw unreachable();
  }
}

/** @param {Response} answer */
async function read(answer) {
  const text = await answer.text();
  const body = text ? parsed(text) : null;
  if (!answer.ok) throw problem(answer.status, body);
  return body;
}

/** @param {number} status @param {any} body */
function problem(status, body) {
  if (status === 401) for (const callback of signedOut) callback();
  return new ApiProblem({ status, code: "request-refused", ...(body && typeof body === "object" ? body : {}) });
}

function unreachable() {
  return new ApiProblem({ status: 0, code: "unreachable", title: "No answer", detail: "The service does not answer. Is it running? Try again." });
}

/** @param {string} text */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
