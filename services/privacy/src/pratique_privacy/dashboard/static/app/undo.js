// @ts-check
/** Undo: the states that a thing went through. States are values; whoever changes one makes a new one. */
import { batch, computed, signal } from "@preact/signals";

const MOST = 200;

/** @template State */
export class History {
  /** @param {State} first */
  constructor(first) {
    /** @type {import("@preact/signals").Signal<State>} */
    this.present = signal(first);
    /** @type {import("@preact/signals").Signal<{state: State, label: string}[]>} */
    this.past = signal([]);
    /** @type {import("@preact/signals").Signal<{state: State, label: string}[]>} */
    this.future = signal([]);
    this.undoable = computed(() => this.past.value.at(-1)?.label);
    this.redoable = computed(() => this.future.value.at(-1)?.label);
  }

  /** Make a new state the present one; `label` says in words what was done. @param {State} next @param {string} label */
  apply(next, label) {
    if (JSON.stringify(next) === JSON.stringify(this.present.value)) return;
    batch(() => {
      this.past.value = [...this.past.value.slice(-MOST + 1), { state: this.present.value, label }];
      this.future.value = [];
      this.present.value = next;
    });
  }

  undo() {
    this.#move(this.past, this.future);
  }

  redo() {
    this.#move(this.future, this.past);
  }

  /** Begin anew with another state, without a way back. @param {State} state */
  restart(state) {
    batch(() => {
      this.past.value = [];
      this.future.value = [];
      this.present.value = state;
    });
  }

  /** @param {import("@preact/signals").Signal<{state: State, label: string}[]>} from @param {import("@preact/signals").Signal<{state: State, label: string}[]>} to */
  #move(from, to) {
    const last = from.value.at(-1);
    if (!last) return;
    batch(() => {
      from.value = from.value.slice(0, -1);
      to.value = [...to.value, { state: this.present.value, label: last.label }];
      this.present.value = last.state;
    });
  }
}
