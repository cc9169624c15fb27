// "Which do you prefer?": one pair at a time, and after every answer who the visitor is by now.

import { openFeedback } from "./feedback.js";
import { fingerprint, randomName } from "./memory.js";
import { drawMixture, drawOrder, element } from "./portrait.js";
import { hideProblem, showProblem } from "./problem.js";
import { post } from "./service.js";
import { count, expectation, keyOf, shorten, sizeOf, sureness } from "./words.js";

const N_SHOWN = 20; // items of the order, until the visitor wants all
const KEYS = { ArrowLeft: "left", a: "left", ArrowRight: "right", b: "right", s: "skip", u: "undo" };

export function openQuestions(model, memory, askToken) {
  const self = { model, memory, askToken, pair: null, busy: true, round: 0, abort: null, weights: null, all: false };
  self.feedback = model.feedback ? openFeedback(memory, (sentence) => { element("unstored").textContent = sentence; }) : null;
  listen(self);
  const nSteps = memory.steps.length;
  say(nSteps ? `Welcome back: ${count(nSteps, "choice")} of yours still here.` : "Choose the one you like better, or neither if you cannot say.");
  refresh(self);
  return { resume: () => refresh(self), weights: () => (memory.answers().length ? self.weights : null) };
}

function listen(self) {
  const actions = { left: () => answer(self, "left"), right: () => answer(self, "right"), skip: () => skip(self), undo: () => undo(self) };
  for (const [id, act] of Object.entries(actions)) element(id).addEventListener("click", act);
  document.addEventListener("keydown", (event) => act(self, actions, event));
  element("again").addEventListener("click", () => askToForget(self));
  element("keep").addEventListener("click", () => element("confirm").close());
  element("forget").addEventListener("click", () => forget(self));
  element("more").addEventListener("click", () => { self.all = true; refresh(self); });
  element("keys").addEventListener("change", (event) => { self.memory.keys = event.target.checked; self.memory.save(); });
  addEventListener("storage", (event) => { if (event.key === self.memory.key) { self.memory.reload(); refresh(self); } });
}

function act(self, actions, event) {
  const action = actions[KEYS[event.key.length === 1 ? event.key.toLowerCase() : event.key]];
  const elsewhere = element("prefer").hidden || element("confirm").open || event.target.closest("input:not([type=checkbox]), select, textarea");
  if (!action || !self.memory.keys || elsewhere || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  event.preventDefault();
  action();
}

function answer(self, side) {
  if (self.busy || !self.pair) return;
  const { left, right, probability } = self.pair;
  const [winner, loser] = side === "left" ? [left, right] : [right, left];
  const id = `${self.memory.visitor}-${randomName()}`;
  self.memory.steps.push({ winner, loser, id });
  self.feedback?.add({ winner, loser, id });
  element(side).dataset.chosen = "";
  say(`You chose ${shorten(winner)}. ${probability === undefined ? "" : expectation(side === "left" ? probability : 1 - probability)}`);
  goOn(self);
}

function skip(self) {
  if (self.busy || !self.pair) return;
  const { left, right } = self.pair;
  self.memory.steps.push({ left, right });
  say("Skipped; we shall not ask that again.");
  goOn(self);
}

function undo(self) {
  const last = self.memory.steps.pop();
  if (!last) return;
  const stored = last.winner !== undefined && self.feedback && !self.feedback.withdraw(last.id);
  say(stored ? "Undone here; the service keeps the answer it has already stored." : "Undone.");
  const [left, right] = last.winner === undefined ? [last.left, last.right] : [last.winner, last.loser];
  goOn(self, { left, right });
}

function goOn(self, pair = null) {
  self.memory.save();
  refresh(self, pair);
}

function askToForget(self) {
  if (!self.memory.steps.length) return;
  const stored = self.feedback ? " What the service has stored stays there." : "";
  element("confirm-text").textContent = `This browser forgets your ${count(self.memory.answers().length, "answer")}.${stored}`;
  element("confirm").showModal();
}

function forget(self) {
  element("confirm").close();
  self.memory.forget();
  say("A fresh start.");
  refresh(self);
  element("question").focus();
}

// the next pair, the mixture and the order come together but are shown as they come: answering never waits for drawing
async function refresh(self, pair = null) {
  self.abort?.abort();
  self.abort = new AbortController();
  const round = ++self.round, options = { signal: self.abort.signal };
  const answers = self.memory.answers();
  const current = (draw) => (content) => { if (round === self.round) draw(self, content); };
  wait(self);
  try {
    await Promise.all([
      pair ? current(drawPair)(pair) : post("next-pair", { answers, skip: self.memory.skipped() }, options).then(current(drawPair)),
      post("fold-in", { answers }, options).then(current(drawWeights)),
      post("rank", { answers, top: nWanted(self) }, options).then(current(drawItems)),
    ]);
    if (round !== self.round) return;
    hideProblem();
    element("portrait").setAttribute("aria-busy", "false");
    self.feedback?.resume();
  } catch (error) {
    if (round === self.round) fail(self, error, pair);
  }
}

const nWanted = (self) => (self.all ? self.model.nItems : Math.min(N_SHOWN, self.model.nItems));

function fail(self, error, pair) {
  if (error.needsToken) self.askToken();
  else showProblem(error, () => refresh(self, pair));
}

function wait(self) {
  self.busy = true;
  element("portrait").setAttribute("aria-busy", "true");
  drawTools(self);
}

function drawPair(self, { left, right, probability }) {
  self.pair = left === null ? null : inFairOrder(self.memory.visitor, { left, right, probability });
  self.busy = false;
  if (self.pair) drawCards(self.pair);
  drawEnd(self);
  drawTools(self);
}

// which one stands left is drawn by lot, so that nobody's habit favours an item; the lot is the same after a reload
function inFairOrder(visitor, { left, right, probability }) {
  const [first, second] = [keyOf(left), keyOf(right)].sort();
  const swap = parseInt(fingerprint([visitor, first, second].join("\n")), 36) % 2 === 1;
  if (swap === (keyOf(left) === second)) return { left, right, probability };
  return { left: right, right: left, probability: probability === undefined ? undefined : 1 - probability };
}

function drawCards(pair) {
  for (const side of ["left", "right"]) {
    const card = element(side), label = card.querySelector(".label");
    delete card.dataset.chosen;
    label.textContent = pair[side];
    label.dataset.length = sizeOf(pair[side]);
  }
  element("next").textContent = `Next: ${pair.left}, or ${pair.right}?`;
}

function drawEnd(self) {
  const over = !self.pair, was = !element("finished").hidden;
  element("asking").hidden = over;
  element("finished").hidden = !over;
  if (!over || was) return;
  element("next").textContent = "";
  element("finished-text").textContent = `There is no pair left to ask about. You gave ${count(self.memory.answers().length, "answer")}; here is what they say about you.`;
  if (document.activeElement === document.body || element("asking").contains(document.activeElement)) element("finished-title").focus();
}

function drawWeights(self, { n_answers: nAnswers, weights }) {
  self.weights = weights;
  drawMixture(weights, self.model.rankings.map(({ description }) => description));
  element("sureness").textContent = sureness(weights, nAnswers);
  element("mixture-title").textContent = nAnswers ? "Your mixture" : "The average mixture";
  element("order-title").textContent = nAnswers ? "Your order" : "The average order";
}

function drawItems(self, { items }) {
  drawOrder(items, self.model.nItems);
  element("more").hidden = items.length >= self.model.nItems;
  element("more").textContent = `Show all ${self.model.nItems.toLocaleString("en")} items`;
}

// not `disabled`, which would throw the focus away after every answer
function drawTools(self) {
  const nSteps = self.memory.steps.length, nSkipped = self.memory.skipped().length;
  for (const id of ["left", "right", "skip"]) element(id).setAttribute("aria-disabled", String(self.busy || !self.pair));
  for (const id of ["undo", "again"]) element(id).setAttribute("aria-disabled", String(!nSteps));
  element("keys").checked = self.memory.keys;
  element("counted").textContent = count(nSteps - nSkipped, "answer") + (nSkipped ? `, ${nSkipped} skipped` : "");
}

function say(sentence) {
  element("said").textContent = sentence;
}
