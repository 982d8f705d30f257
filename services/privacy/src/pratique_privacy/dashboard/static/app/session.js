// @ts-check
/** The session: who is signed in, how one signs in and out, and what the role may do. */
import { signal } from "@preact/signals";
import { ApiProblem, get, onSignedOut, send } from "./api.js";
import { decoded, forget } from "./router.js";

/** @typedef {{key: string, tenant: string, role: "operator" | "recipient" | "auditor" | "admin", recipient: string | null}} Caller */

/** Who is signed in: `undefined` until it is known, `null` for nobody. @type {import("@preact/signals").Signal<Caller | null | undefined>} */
export const caller = signal(undefined);
/** Why the last try failed. @type {import("@preact/signals").Signal<ApiProblem | null>} */
export const refusal = signal(null);

/** Who was signed in before the session ended. @type {Caller | null} */
let former = null;

onSignedOut(() => {
  if (!caller.value) return;
  former = caller.value;
  refusal.value = new ApiProblem({ status: 401, code: "session-ended", title: "Signed out", detail: "Your session has ended. Sign in again to go on where you were." });
  caller.value = null;
});

/** Find out who is signed in; a ticket in the address is used up and taken out of it first. */
export async function begin() {
  const ticket = /^#ticket=(.+)$/.exec(location.hash);
  if (ticket) {
    forget();
    return signIn({ ticket: decoded(ticket[1]) });
  }
  try {
    caller.value = (await get("/session")).caller;
  } catch (error) {
    refused(error);
  }
}

/** @param {{key: string} | {ticket: string}} proof */
export async function signIn(proof) {
  refusal.value = null;
  try {
    const found = await send("POST", "/session", proof);
    if (former && former.key !== found.key) return location.reload(); // nothing of the one before stays in memory
    caller.value = found;
  } catch (error) {
    refused(error);
  }
}

export async function signOut() {
  await send("DELETE", "/session").catch(() => null);
  location.reload(); // nothing that was shown stays in memory for whoever signs in next
}

/** Whether the role of who is signed in is one of these; an admin is every one. @param {...string} roles */
export function may(...roles) {
  const role = caller.value?.role;
  return role === "admin" || (role !== undefined && roles.includes(role));
}

/** @param {unknown} error */
function refused(error) {
  if (!(error instanceof ApiProblem)) throw error;
  refusal.value = error;
  caller.value = null;
}
