// @ts-check
/** A chart: drawn by Vega-Lite on a canvas in the colours of the page, with its table, its exports and its call. */
import { html, useEffect, useRef, useState } from "../html.js";
import { repaint, token } from "../theme.js";
import { CopyMenu } from "./copy_menu.js";
import { ExportMenu } from "./export_menu.js";
import { DataTable } from "./table.js";

const NARROW = 420; // pixels below which a legend stands in one column

/** @type {Promise<{vega: any, vegaLite: any, interpreter: any}> | undefined} */
let loading;

/** Vega comes with the first chart: half a megabyte that a sign-in page does not need. */
function loaded() {
  loading ??= (async () => {
    const base = new URL("../../vendor/", import.meta.url);
    await script(new URL("vega.min.js", base));
    await script(new URL("vega-lite.min.js", base));
    // @ts-ignore It comes without types.
    const { expressionInterpreter } = await import("vega-interpreter");
    return { vega: /** @type {any} */ (window).vega, vegaLite: /** @type {any} */ (window).vegaLite, interpreter: expressionInterpreter };
  })();
  return loading;
}

/** @param {URL} address @returns {Promise<void>} */
function script(address) {
  return new Promise((resolve, reject) => {
    const element = document.createElement("script");
    element.src = address.href;
    element.onload = () => resolve();
    element.onerror = () => reject(new Error("a script of the dashboard is missing"));
    document.head.append(element);
  });
}

/**
 * A Vega-Lite `spec` without data; `rows` are its data and its table. `summary` says in a sentence what is seen.
 * @param {{title: string, summary: string, spec: object, rows: any[], columns: import("./table.js").Column[], height?: number,
 *   call?: any, policy?: unknown, choose?: (datum: any) => void}} props
 */
export function Chart({ title, summary, spec, rows, columns, height = 200, call, policy, choose }) {
  const [tabular, setTabular] = useState(false);
  const place = useRef(/** @type {HTMLElement | null} */ (null));
  const view = useRef(/** @type {any} */ (null));
  const drawing = useRef(/** @type {Promise<void> | null} */ (null));
  const paint = repaint.value;
  const content = JSON.stringify([spec, rows]);
  useEffect(() => {
    if (tabular || !place.current) return undefined;
    const element = place.current;
    let turn = 0; // of the drawing asked for last: they end in any order, some after the reader has left
    const draw = async () => {
      const mine = (turn += 1);
      const wanted = () => mine === turn && element.isConnected;
      const tools = await loaded();
      if (!wanted()) return;
      view.current?.finalize();
      view.current = null;
      const made = viewIn(element, tools, spec, rows, height);
      await made.runAsync().catch((/** @type {unknown} */ error) => wanted() && reportError(error));
      if (!wanted()) return made.finalize();
      view.current = made;
      if (choose) made.addEventListener("click", (/** @type {any} */ _event, /** @type {any} */ item) => item?.datum && choose(item.datum));
    };
    const redraw = () => (drawing.current = draw());
    redraw();
    const resized = onWidth(element, redraw);
    return () => {
      turn += 1;
      resized();
      view.current?.finalize();
      view.current = null;
    };
  }, [content, tabular, paint]);
  const png = async () => {
    await drawing.current;
    const canvas = await view.current.toCanvas(2);
    return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
  };
  const svg = async () => {
    await drawing.current;
    return new Blob([await view.current.toSVG()], { type: "image/svg+xml" });
  };
  return html`<figure class="chart">
    <figcaption><span>${title}</span>
      <span class="tools"><button type="button" class="quiet" aria-pressed=${tabular} onClick=${() => setTabular(!tabular)}>${tabular ? "Chart" : "Table"}</button>
      <${ExportMenu} name=${title} columns=${columns} rows=${rows} png=${tabular ? undefined : png} svg=${tabular ? undefined : svg} />
      ${(call || policy !== undefined) && html`<${CopyMenu} call=${call} policy=${policy} />`}</span>
    </figcaption>
    ${tabular
      ? html`<${DataTable} caption=${title} columns=${columns} rows=${rows} />`
      : html`<div role="img" aria-label="${title}. ${summary}"><div class="canvas" ref=${place}></div></div>`}
  </figure>`;
}

/** A view of Vega that is not drawn yet; the rows are copied, for Vega writes what it computes into its own. @param {HTMLElement} place @param {{vega: any, vegaLite: any, interpreter: any}} tools @param {object} spec @param {any[]} rows @param {number} height */
function viewIn(place, { vega, vegaLite, interpreter }, spec, rows, height) {
  const values = rows.map((row) => ({ ...row }));
  const whole = { width: Math.max(160, place.clientWidth), height, autosize: { type: "fit", contains: "padding" }, ...spec, data: { values }, config: colours(place.clientWidth < NARROW) };
  const compiled = vegaLite.compile(whole).spec;
  return new vega.View(vega.parse(compiled, undefined, { ast: true }), { expr: interpreter, renderer: "canvas", container: place });
}

/** Draw anew when the place becomes wider or narrower. @param {HTMLElement} place @param {() => void} draw */
function onWidth(place, draw) {
  let width = place.clientWidth;
  /** @type {number | undefined} */
  let timer;
  const observer = new ResizeObserver(() => {
    if (Math.abs(place.clientWidth - width) < 4) return;
    width = place.clientWidth;
    clearTimeout(timer);
    timer = setTimeout(draw, 120);
  });
  observer.observe(place);
  return () => {
    clearTimeout(timer);
    observer.disconnect();
  };
}

/** @param {boolean} narrow */
function colours(narrow) {
  const [ink, soft, grid] = [token("--ink"), token("--ink-soft"), token("--chart-grid")];
  const font = "system-ui, sans-serif";
  const series = [1, 2, 3, 4, 5, 6].map((place) => token(`--chart-${place}`));
  const text = { labelColor: soft, titleColor: soft, labelFont: font, titleFont: font, labelFontSize: 12, titleFontSize: 12, titleFontWeight: "normal" };
  return {
    background: "transparent",
    font,
    axis: { ...text, gridColor: grid, domainColor: grid, tickColor: grid, labelLimit: 160 },
    legend: { ...text, orient: "top", labelLimit: 260, ...(narrow ? { columns: 1 } : {}) },
    header: text,
    title: { color: ink, font },
    text: { color: ink, font, fontSize: 12 },
    view: { stroke: null },
    mark: { color: series[0], tooltip: true },
    range: { category: series, heatmap: [token("--sunken"), series[0]], ramp: [token("--sunken"), series[0]] },
  };
}
