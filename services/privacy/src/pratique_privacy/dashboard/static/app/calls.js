// @ts-check
/** Calls: what the dashboard does, as something to paste into a shell or a program. */

/** @typedef {{method: string, path: string, body?: unknown}} Call */

/** @param {Call} call */
export function asCurl({ method, path, body }) {
  const lines = [`curl -s ${method === "GET" ? "" : `-X ${method} `}${quoted(location.origin + path)}`, '-H "Authorization: Bearer $PRATIQUE_KEY"'];
  if (body !== undefined) lines.push('-H "Content-Type: application/json"', `-d ${quoted(JSON.stringify(body, null, 1))}`);
  return lines.join(" \\\n  ");
}

/** A word that no shell looks into. @param {string} text */
function quoted(text) {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** What the Python client calls each operation; `{}` stands for the id in the path. */
const METHODS = /** @type {[string, RegExp, string][]} */ ([
  ["GET", /^\/captures\/([^/?]+)$/, "capture"],
  ["GET", /^\/captures\/([^/?]+)\/identifiers$/, "identifiers"],
  ["GET", /^\/captures\/([^/?]+)\/records/, "records"],
  ["GET", /^\/datasets\/([^/?]+)$/, "dataset"],
  ["GET", /^\/releases\/([^/?]+)$/, "release"],
  ["GET", /^\/releases\/([^/?]+)\/posture$/, "posture"],
  ["GET", /^\/releases\/([^/?]+)\/gate$/, "gate"],
  ["GET", /^\/sweeps\/([^/?]+)$/, "sweep"],
  ["GET", /^\/utility\/([^/?]+)$/, "utility"],
  ["GET", /^\/recommendations\/([^/?]+)$/, "recommendation"],
  ["POST", /^\/preview$/, "preview"],
  ["POST", /^\/classify$/, "classify"],
  ["POST", /^\/releases$/, "create_release"],
  ["POST", /^\/releases\/([^/?]+)\/attacks$/, "create_attack"],
  ["POST", /^\/sweeps$/, "create_sweep"],
  ["POST", /^\/utility$/, "create_utility"],
  ["POST", /^\/recommendations$/, "create_recommendation"],
]);

/** @param {Call} call */
export function asPython({ method, path, body }) {
  for (const [verb, pattern, name] of METHODS) {
    const found = verb === method && pattern.exec(path);
    if (!found) continue;
    const given = [...(found[1] ? [literal(found[1])] : []), ...(body === undefined ? [] : [literal(body)])].join(", ");
    return `from pratique import Client\n\nwith Client(${JSON.stringify(location.origin)}) as pratique:\n    answer = pratique.${name}(${given})\n`;
  }
  const sent = body === undefined ? "" : `, json=${literal(body)}`;
  return `import os\n\nimport httpx\n\nheaders = {"Authorization": f"Bearer {os.environ['PRATIQUE_KEY']}"}\nanswer = httpx.request(${JSON.stringify(method)}, ${JSON.stringify(location.origin + path)}, headers=headers${sent}).json()\n`;
}

/** A JSON value as Python writes it. @param {unknown} value @param {string} [margin] @returns {string} */
export function literal(value, margin = "    ") {
  if (value === null || value === undefined || Number.isNaN(value)) return "None";
  if (value === true) return "True";
  if (value === false) return "False";
  if (Array.isArray(value)) return `[${value.map((entry) => literal(entry, margin)).join(", ")}]`;
  if (typeof value === "object") {
    const inner = `${margin}    `;
    const entries = Object.entries(value).map(([name, entry]) => `${inner}${JSON.stringify(name)}: ${literal(entry, inner)},\n`);
    return entries.length ? `{\n${entries.join("")}${margin}}` : "{}";
  }
  return JSON.stringify(value);
}
