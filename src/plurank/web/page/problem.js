// Says what went wrong, lets the visitor try again, and tries by itself when the service was only out of reach.

import { element } from "./portrait.js";

const FIRST_WAIT = 2000;
const LONGEST_WAIT = 15000;

let timer = 0;
let wait = FIRST_WAIT;
let again = () => {};

export function showProblem(error, retry) {
  again = retry;
  element("problem-text").textContent = error.message;
  element("problem").hidden = false;
  clearTimeout(timer);
  if (!error.passes) return;
  timer = setTimeout(retry, wait);
  wait = Math.min(2 * wait, LONGEST_WAIT);
}

export function hideProblem() {
  clearTimeout(timer);
  wait = FIRST_WAIT;
  element("problem").hidden = true;
}

element("retry").addEventListener("click", () => again());
addEventListener("online", () => element("problem").hidden || again());
