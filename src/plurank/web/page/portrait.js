// Draws who the visitor is by now: the mixture of rankings, and the order of items. Labels are text, never markup.

import { asSentence, between, isAnywhere, keyOf, percent } from "./words.js";

const MOVE = { duration: 350, easing: "ease-out" };

export const element = (id) => document.getElementById(id);

export function make(tag, className = "", text = "") {
  const made = document.createElement(tag);
  if (className) made.className = className;
  made.textContent = text;
  return made;
}

export function drawMixture(weights, descriptions) {
  const list = element("mixture");
  if (list.childElementCount !== weights.length) list.replaceChildren(...weights.map(() => mixtureRow()));
  weights.forEach((row, k) => fillMixtureRow(list.children[k], row, descriptions[k]));
}

function mixtureRow() {
  const row = make("li");
  const head = make("div", "head");
  head.append(make("span", "which"), make("span", "share"), make("span", "bounds"));
  const bar = make("div", "bar");
  bar.setAttribute("aria-hidden", "true");
  bar.append(make("span", "fill"), make("span", "whisker"));
  row.append(head, bar, make("p", "note"));
  return row;
}

function fillMixtureRow(row, { ranking, weight, lower, upper }, description) {
  row.dataset.ranking = ranking;
  row.dataset.weight = weight;
  row.querySelector(".which").textContent = `Ranking ${ranking}`;
  row.querySelector(".share").textContent = percent(weight);
  row.querySelector(".bounds").textContent = `${percent(lower)} to ${percent(upper)}`;
  row.querySelector(".note").textContent = asSentence(description);
  place(row.querySelector(".bar"), { weight, lower, upper });
}

function place(bar, shares) {
  for (const [name, share] of Object.entries(shares)) bar.style.setProperty(`--${name}`, share);
}

export function drawOrder(items, nItems) {
  const body = element("order");
  const tops = new Map([...body.children].map((row) => [row.dataset.item, row.getBoundingClientRect().top]));
  const rows = new Map([...body.children].map((row) => [row.dataset.item, row]));
  body.replaceChildren(...items.map((item) => fillOrderRow(rows.get(keyOf(item.item)) ?? orderRow(item), item, nItems)));
  element("order-note").textContent = items.every((item) => isAnywhere(item, nItems))
    ? "Nothing is known about this order yet: every item may have any place."
    : "Best first. The line shows between which places an item is, with 90% probability.";
  for (const row of body.children) slide(row, tops.get(row.dataset.item));
}

function orderRow({ item, text }) {
  const row = make("tr");
  row.dataset.item = keyOf(item);
  const name = make("th", "item", text);
  name.scope = "row";
  const range = make("td", "range");
  const line = make("div", "bar thin");
  line.setAttribute("aria-hidden", "true");
  line.append(make("span", "whisker"), make("span", "dot"));
  range.append(make("span", "bounds"), line);
  row.append(make("td", "place"), name, range);
  return row;
}

function fillOrderRow(row, { rank, lower, upper }, nItems) {
  const along = (place) => (nItems > 1 ? (place - 1) / (nItems - 1) : 0.5);
  row.querySelector(".place").textContent = rank;
  row.querySelector(".bounds").textContent = between({ lower, upper }, nItems);
  place(row.querySelector(".bar"), { weight: along(rank), lower: along(lower ?? rank), upper: along(upper ?? rank) });
  return row;
}

// a row that moved is seen moving
function slide(row, oldTop) {
  const moved = oldTop - row.getBoundingClientRect().top;
  if (!moved || matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  row.animate([{ transform: `translateY(${moved}px)` }, { transform: "none" }], MOVE);
}
