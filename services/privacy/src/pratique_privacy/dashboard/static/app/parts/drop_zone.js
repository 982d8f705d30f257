// @ts-check
/** A drop zone: files dropped on it or picked with its button. */
import { html, useRef, useState } from "../html.js";

/** @param {{title: string, hint: string, accept: string, take: (files: File[]) => void}} props */
export function DropZone({ title, hint, accept, take }) {
  const [over, setOver] = useState(false);
  const picker = useRef(/** @type {HTMLInputElement | null} */ (null));
  const drop = (/** @type {DragEvent} */ event) => {
    event.preventDefault();
    setOver(false);
    const files = [...(event.dataTransfer?.files || [])];
    if (files.length) take(files);
  };
  const hover = (/** @type {DragEvent} */ event) => {
    event.preventDefault();
    setOver(true);
  };
  return html`<div class="drop-zone ${over ? "over" : ""}" onDragOver=${hover} onDragLeave=${() => setOver(false)} onDrop=${drop}>
    <strong>${title}</strong>
    <p class="small soft">${hint}</p>
    <button type="button" onClick=${() => picker.current?.click()}>Choose files</button>
    <input ref=${picker} type="file" multiple hidden accept=${accept} aria-label=${title}
      onChange=${(/** @type {any} */ event) => { take([...event.target.files]); event.target.value = ""; }} />
  </div>`;
}
