// @ts-check
/** What the interpreter takes from vega-util, out of the one Vega that is loaded. */
export const { ascending, isString, DisallowedObjectProperties } = /** @type {any} */ (window).vega;
