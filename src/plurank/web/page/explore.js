// "The rankings": who follows what, the bump chart, and a table of every item's places.

import { drawChart } from "./chart.js";
import { element, make } from "./portrait.js";
import { asSentence, between, count, isAnywhere, keyOf, percent, shorten } from "./words.js";

const N_LISTED = 5; // items of a kind of common ground
const KINDS = {
  "liked by all camps": ["All camps like", "liked_by_all"],
  "disliked by all camps": ["All camps dislike", "disliked_by_all"],
  contested: ["Camps disagree about", "contested"],
};

export function openExplore({ nItems, rankings, ground }) {
  drawCommonGround(rankings.length > 1 ? ground : []);
  const rows = collectRows(rankings);
  const unknown = rankings.every(({ items }) => items.every((item) => isAnywhere(item, nItems)));
  element("explore-lead").textContent = unknown
    ? "Nothing is known yet: every item may have any place."
    : `${count(rankings.length, "ranking")} of ${count(nItems, "item")}. People follow each of them more or less: the share says how much, on average.`;
  element("sort").replaceChildren(...sortings(rankings).map(([value, text]) => Object.assign(make("option", "", text), { value })));
  element("places-head").replaceChildren(headRow(rankings));
  const draw = () => drawPlaces(rows, rankings, nItems);
  element("filter").addEventListener("input", draw);
  element("sort").addEventListener("change", draw);
  draw();
  drawChart();
}

export function drawCamps(rankings, weights) {
  element("camps").replaceChildren(...rankings.map((ranking, k) => camp(ranking, weights?.[k])));
}

// only what is sure enough to be said, and how many votes that rests on
function drawCommonGround(ground) {
  const lists = Object.entries(KINDS).map(([label, [title, by]]) => [title, ground.filter((row) => row.label === label).sort((a, b) => b[by] - a[by])]);
  element("common").replaceChildren(...lists.filter(([, rows]) => rows.length).map(([title, rows]) => {
    const list = make("ul");
    list.append(...rows.slice(0, N_LISTED).map(({ text, votes }) => make("li", "", votes === null ? text : `${text} (${count(votes, "vote")})`)));
    const panel = make("li", "panel"), more = rows.length - N_LISTED;
    panel.append(make("h2", "", title), list, make("p", "note", more > 0 ? `and ${more.toLocaleString("en")} more` : ""));
    return panel;
  }));
}

// people, not shares, say whether a ranking rests on a few
function followers({ people, people_80: pure, votes }) {
  if (people === 0) return "Nobody follows it most.";
  const most = `Followed most by ${people === 1 ? "1 person" : `${people.toLocaleString("en")} people`}`;
  if (people === "fewer than 5") return `${most}.`;
  const cast = votes === null ? "" : `; they cast ${count(votes, "vote")}`;
  return `${most}, by ${pure === 0 ? "nobody" : pure.toLocaleString("en")} nearly alone (80% or more)${cast}.`;
}

function camp({ ranking, mean_weight: share, description, camp: people, items }, own) {
  const card = make("li", "panel");
  const you = own ? `, you ${percent(own.weight)}` : "";
  const best = make("ol");
  best.append(...items.slice(0, 3).map(({ text }) => Object.assign(make("li", "", shorten(text)), { title: text })));
  const bar = make("div", "bar");
  bar.setAttribute("aria-hidden", "true");
  bar.style.setProperty("--weight", share);
  bar.append(make("span", "fill"));
  card.append(make("h2", "", `Ranking ${ranking}`), make("p", "share", `share ${percent(share)}${you}`), bar, make("p", "followers", followers(people)), make("p", "note", asSentence(description)), best);
  return card;
}

// one row an item: its label, and its entry in every ranking (or null below the places shown)
function collectRows(rankings) {
  const rows = new Map();
  rankings.forEach(({ items }, k) => items.forEach((entry) => {
    const key = keyOf(entry.item);
    if (!rows.has(key)) rows.set(key, { item: entry.text, entries: rankings.map(() => null) });
    rows.get(key).entries[k] = entry;
  }));
  return [...rows.values()];
}

const sortings = (rankings) => [
  ...rankings.map(({ ranking }, k) => [String(k), `place in ranking ${ranking}`]),
  ...(rankings.length > 1 ? [["spread", "where rankings differ most"]] : []),
  ["name", "name"],
];

const rankOf = (entry) => entry?.rank ?? Infinity;

function spread({ entries }) {
  const places = entries.filter(Boolean).map((entry) => entry.rank);
  return Math.max(...places) - Math.min(...places);
}

function sorted(rows, by) {
  const compare = {
    name: (a, b) => a.item.localeCompare(b.item, undefined, { numeric: true }),
    spread: (a, b) => spread(b) - spread(a),
  }[by] ?? ((a, b) => (rankOf(a.entries[by]) < rankOf(b.entries[by]) ? -1 : 1));
  return [...rows].sort(compare);
}

function drawPlaces(rows, rankings, nItems) {
  const wanted = element("filter").value.trim().toLocaleLowerCase();
  const shown = sorted(rows, element("sort").value).filter(({ item }) => item.toLocaleLowerCase().includes(wanted));
  element("places").replaceChildren(...shown.map((row) => placesRow(row, rankings, nItems)));
  const missing = rows.length < nItems ? ` The table has the first ${rankings[0].items.length} places of each ranking.` : "";
  element("found").textContent = `${count(shown.length, "item")} of ${nItems.toLocaleString("en")}.${missing}`;
}

function headRow(rankings) {
  const row = make("tr");
  const heads = ["Item", ...rankings.map(({ ranking }) => `Ranking ${ranking}`)].map((text) => make("th", "", text));
  heads.forEach((head, n) => {
    head.scope = "col";
    if (n) head.append(make("span", "note", `share ${percent(rankings[n - 1].mean_weight)}`));
  });
  row.append(...heads);
  return row;
}

function placesRow({ item, entries }, rankings, nItems) {
  const row = make("tr");
  const name = make("th", "item", item);
  name.scope = "row";
  row.append(name, ...entries.map((entry, k) => placeCell(entry, rankings[k].items.length, nItems)));
  return row;
}

function likely(entry, nItems) {
  const words = between(entry, nItems);
  return words === "any place" ? "could be anywhere" : `between ${words}`;
}

function placeCell(entry, nShown, nItems) {
  const cell = make("td", "", entry ? `${entry.rank}` : `after ${nShown}`);
  if (entry && entry.lower !== entry.upper) cell.append(make("span", "note", likely(entry, nItems)));
  return cell;
}
