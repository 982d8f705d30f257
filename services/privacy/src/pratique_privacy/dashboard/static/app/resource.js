// @ts-check
/** Resources: something the API is asked for while a view is shown, with its wait and its refusal. */
import { signal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { follow, get } from "./api.js";

/**
 * Ask for a path, anew whenever it changes; `null` asks for nothing. With `every` (milliseconds) it is asked for
 * again while `whilst(body)` holds.
 * @param {string | null} path @param {{every?: number, whilst?: (body: any) => boolean}} [options]
 */
export function useResource(path, options = {}) {
  const found = useMemo(() => {
    const body = signal(/** @type {any} */ (undefined));
    const problem = signal(/** @type {any} */ (null));
    const turn = signal(0);
    return { body, problem, turn, again: () => (turn.value = turn.peek() + 1) };
  }, []);
  const turn = found.turn.value;
  useEffect(() => {
    if (path === null) {
      found.body.value = undefined;
      found.problem.value = null;
      return undefined;
    }
    const stop = new AbortController();
    /** @type {number | undefined} */
    let timer;
    const look = async () => {
      try {
        const body = await get(path, { signal: stop.signal });
        if (stop.signal.aborted) return;
        found.body.value = body;
        found.problem.value = null;
        if (options.every && (!options.whilst || options.whilst(body))) timer = setTimeout(look, options.every);
      } catch (error) {
        if (!stop.signal.aborted) found.problem.value = error;
      }
    };
    look();
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [path, turn]);
  return found;
}

/**
 * Ask for a study, and hear of it by its events while `whilst(body)` holds. Events come without its answer: that is
 * asked for once it is over.
 * @param {string} path @param {(body: any) => boolean} whilst
 */
export function useFollowed(path, whilst) {
  const found = useResource(path);
  const body = found.body.value;
  const going = Boolean(body) && !found.problem.value && whilst(body);
  useEffect(() => {
    if (!going) return undefined;
    const stop = follow(`${path}/events`, (snapshot) => {
      if (whilst(snapshot)) found.body.value = snapshot;
      else {
        stop();
        found.again();
      }
    }, found.again);
    return stop;
  }, [path, going]);
  return found;
}
