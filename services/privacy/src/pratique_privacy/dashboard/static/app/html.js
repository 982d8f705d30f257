/** Markup: htm bound to Preact, and what every view takes from them. */
import { h, render, Fragment } from "preact";
import htm from "htm";

export const html = htm.bind(h);
export { render, Fragment };
export { useErrorBoundary, useEffect, useLayoutEffect, useMemo, useRef, useState, useId } from "preact/hooks";
export { signal, computed, effect, batch, useSignal, useComputed, useSignalEffect } from "@preact/signals";
