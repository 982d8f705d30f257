// @ts-check
/** A release as it lives: its resource, followed by events until it is over, and its posture so far. */
import { follow } from "../../api.js";
import { useEffect } from "../../html.js";
import { useResource } from "../../resource.js";
import { isOver } from "./words.js";

const HOPELESS = ["failed", "cancelled"]; // there is no posture to ask for

/** @param {string | null} id */
export function useRelease(id) {
  const release = useResource(id && `/releases/${id}`);
  const body = release.body.value?.id === id ? release.body.value : undefined;
  const posture = useResource(body && !HOPELESS.includes(body.status) ? `/releases/${id}/posture` : null);
  const running = Boolean(body) && !release.problem.value && !isOver(body.status);
  useEffect(() => {
    if (!running) return undefined;
    const stop = follow(`/releases/${id}/events`, (snapshot) => {
      if (isOver(snapshot.status)) stop(); // the stream ends here; a browser would ask for it again
      release.body.value = snapshot;
      posture.again();
    }, release.again);
    return stop;
  }, [id, running]);
  const figures = posture.body.value?.release === id ? posture.body.value : undefined;
  return {
    body,
    posture: figures?.after ? figures : undefined,
    problem: release.problem.value || posture.problem.value,
    again: () => {
      release.again();
      if (posture.problem.value) posture.again(); // one that was cancelled has none any more
    },
  };
}
