// "Which do you prefer?": one pair at a time; unless results are hidden, after every answer who the visitor is by now.

import { openFeedback } from "./feedback.js";
import { fingerprint, randomName } from "./memory.js";
import { drawMixture, drawOrder, element } from "./portrait.js";
import { hideProblem, showProblem } from "./problem.js";
import { post } from "./service.js";
import { count, expectation, keyOf, shorten, sizeOf, stopped, sureness } from "./words.js";

const N_SHOWN = 20; // items of the order, until the visitor wants all
const KEYS = { ArrowLeft: "left", a: "left", ArrowRight: "right", b: "right", s: "skip", u: "undo" };

export function openQuestions(model, memory, askToken) {
  const self = { model, memory, askToken, pair: null, busy: true, round: 0, abort: null, weights: null, all: false };
  self.feedback = model.feedback ? openFeedback(memory, (sentence) => { element("unstored").textContent = sentence; drawEnd(self); }) : null;
  listen(self);
  const nSteps = memory.steps.length;
  say(nSteps ? `Welcome back: ${count(nSteps, "choice")} of yours still here.` : model.hidden ? "" : "Choose the one you like better, or neither if you cannot say.");
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
  element("go-on").addEventListener("click", () => goFurther(self));
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
  self.memory.steps.push({ winner, loser, id, texts: { [keyOf(left)]: textOf(self.pair, "left"), [keyOf(right)]: textOf(self.pair, "right") } });
  self.feedback?.add({ winner, loser, id });
  element(side).dataset.chosen = "";
  const expected = self.model.hidden || typeof probability !== "number" ? "" : expectation(side === "left" ? probability : 1 - probability);
  say(`${stopped(`You chose ${shorten(textOf(self.pair, side))}`)} ${expected}`);
  goOn(self);
}

function skip(self) {
  if (self.busy || !self.pair) return;
  const { left, right } = self.pair;
  self.memory.steps.push({ left, right, texts: { [keyOf(left)]: textOf(self.pair, "left"), [keyOf(right)]: textOf(self.pair, "right") } });
  say("Skipped; we shall not ask that again.");
  goOn(self);
}

function undo(self) {
  const last = self.memory.steps.pop();
  if (!last) return;
  if (last.winner !== undefined) self.feedback?.withdraw(last);
  say("Undone.");
  const [left, right] = last.winner === undefined ? [last.left, last.right] : [last.winner, last.loser];
  goOn(self, { left, right, left_text: last.texts?.[keyOf(left)], right_text: last.texts?.[keyOf(right)] });
}

// what to show for an item of a pair: its text, or its id where the service gave none
const textOf = (pair, side) => `${pair[`${side}_text`] ?? pair[side]}`;

// as many questions again
function goFurther(self) {
  self.memory.more += 1;
  goOn(self);
  element("question").focus();
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
      pair ? current(drawPair)(pair) : nextPair(self, answers, options).then(current(drawPair)),
      ...(self.model.hidden ? [] : [
        post("fold-in", { answers }, options).then(current(drawWeights)),
        post("rank", { answers, top: nWanted(self) }, options).then(current(drawItems)),
      ]),
    ]);
    if (round !== self.round) return;
    hideProblem();
    element("portrait").setAttribute("aria-busy", "false");
    self.feedback?.resume();
  } catch (error) {
    if (round === self.round) fail(self, error, pair);
  }
}

// the pair asked before a reload, or the next one; none after the last question
async function nextPair(self, answers, options) {
  const { asked, steps, visitor } = self.memory;
  if (isDone(self)) return { left: null, right: null };
  if (asked?.after === steps.length) return asked;
  return post("next-pair", { answers, skip: self.memory.skipped(), visitor }, options);
}

const nQuestions = (self) => (self.model.questions === null ? Infinity : self.model.questions * (1 + self.memory.more));
const isDone = (self) => self.memory.answers().length >= nQuestions(self);

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

function drawPair(self, pair) {
  self.pair = pair.left === null ? null : inFairOrder(self.memory.visitor, pair);
  self.memory.asked = self.pair && { ...self.pair, after: self.memory.steps.length };
  self.memory.save();
  self.busy = false;
  if (self.pair) drawCards(self.pair);
  drawEnd(self);
  drawTools(self);
}

// which one stands left is drawn by lot, so that nobody's habit favours an item; the lot is the same after a reload
function inFairOrder(visitor, pair) {
  const { left, right, left_text, right_text, probability } = pair;
  const [first, second] = [keyOf(left), keyOf(right)].sort();
  const swap = parseInt(fingerprint([visitor, first, second].join("\n")), 36) % 2 === 1;
  if (swap === (keyOf(left) === second)) return { left, right, left_text, right_text, probability };
  const other = typeof probability === "number" ? 1 - probability : undefined;
  return { left: right, right: left, left_text: right_text, right_text: left_text, probability: other };
}

function drawCards(pair) {
  for (const side of ["left", "right"]) {
    const card = element(side), label = card.querySelector(".label");
    delete card.dataset.chosen;
    label.textContent = textOf(pair, side);
    label.dataset.length = sizeOf(label.textContent.length);
  }
  element("next").textContent = `Next: ${textOf(pair, "left")}, or ${textOf(pair, "right")}?`;
}

function drawEnd(self) {
  const over = !self.pair && !self.busy, was = !element("finished").hidden;
  element("asking").hidden = over;
  element("finished").hidden = !over;
  element("skip").hidden = over;
  if (!over) return;
  element("finished-text").textContent = thanks(self);
  element("go-on").hidden = !isDone(self);
  if (was) return;
  element("next").textContent = "";
  if (document.activeElement === document.body || element("asking").contains(document.activeElement)) element("finished-title").focus();
}

function thanks(self) {
  const nAnswers = self.memory.answers().length, nWaiting = self.feedback?.nWaiting() ?? 0;
  const nothingLeft = isDone(self) ? "" : "There is no pair left to ask about. ";
  const given = `You gave ${count(nAnswers, "answer")}`;
  const shown = self.model.hidden ? "" : " Below is what they say about you.";
  if (!self.feedback) return `${nothingLeft}${given}.${shown}`;
  if (nWaiting) return `${nothingLeft}${given}; ${nWaiting === 1 ? "1 is" : `${nWaiting} are`} not stored yet. Please keep this page open.${shown}`;
  return `${nothingLeft}${given}, and ${nAnswers === 1 ? "it is" : "all of them are"} stored.${self.model.hidden ? " You may close this page." : shown}`;
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
  const nAnswers = nSteps - nSkipped, most = nQuestions(self);
  const skipped = nSkipped ? `, ${nSkipped} skipped` : "";
  element("counted").textContent = (most === Infinity ? count(nAnswers, "answer") : `${nAnswers} of ${most}`) + skipped;
  element("progress").hidden = most === Infinity;
  element("progress").max = most === Infinity ? 1 : most;
  element("progress").value = nAnswers;
}

function say(sentence) {
  element("said").textContent = sentence;
}
