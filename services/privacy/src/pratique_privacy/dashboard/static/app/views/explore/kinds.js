// @ts-check
/** The kinds of studies: where each lives in the API, what it is for, its form and its answer. */
import { RecommendationAnswer } from "./recommendation.js";
import { RecommendationForm } from "./recommendation_form.js";
import { SweepAnswer } from "./sweep.js";
import { SweepForm } from "./sweep_form.js";
import { UtilityAnswer } from "./utility.js";
import { UtilityForm } from "./utility_form.js";

/** @typedef {{path: string, one: string, title: string, about: string, parts: string, Form: any, Answer: any}} Kind */

/** @type {Kind[]} */
export const KINDS = [
  { path: "sweeps", one: "sweep", title: "Sweeps", parts: "releases measured", Form: SweepForm, Answer: SweepAnswer,
    about: "Every source under every configuration, each measured and attacked like a release; nothing of it is published." },
  { path: "recommendations", one: "recommendation", title: "Recommendations", parts: "choices looked at", Form: RecommendationForm, Answer: RecommendationAnswer,
    about: "Which policy passes a gate at the least loss, searched over levels of generalisation and thresholds of suppression." },
  { path: "utility", one: "utility study", title: "Utility", parts: "splits scored", Form: UtilityForm, Answer: UtilityAnswer,
    about: "What a classifier still learns of the records that suppression leaves, the rarest labels apart." },
];

/** @param {string | undefined} path @returns {Kind} */
export function kindNamed(path) {
  return KINDS.find((kind) => kind.path === path) || KINDS[0];
}

/** @param {{status: string}} study */
export function isGoing(study) {
  return study.status === "queued" || study.status === "running";
}
