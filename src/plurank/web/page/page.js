// The page as a whole: gets to know the model, then asks, remembers and shows.

import { drawCamps, openExplore } from "./explore.js";
import { fingerprint, openMemory } from "./memory.js";
import { element } from "./portrait.js";
import { openQuestions } from "./questions.js";
import { get, keepToken, readToken } from "./service.js";
import { hideProblem, showProblem } from "./problem.js";
import { count, keyOf, sizeOf } from "./words.js";

const N_PLACES = 200; // of every ranking, in the table

const page = { model: null, questions: null, explored: false };

async function start() {
  try {
    const [health, { n_items: nItems, rankings }] = await Promise.all([get("health"), get(`rankings?top=${N_PLACES}`)]);
    hideProblem();
    element("token-form").hidden = true;
    if (page.questions) {
      page.questions.resume();
      return;
    }
    page.model = { nItems, rankings, feedback: health.feedback };
    describe(health.model, rankings, health.feedback);
    // by items, not by fit: a model fitted again still knows what its visitors said
    const memory = openMemory(fingerprint(labels(rankings).map(keyOf).sort().join("\n")));
    page.questions = openQuestions(page.model, memory, askToken);
    show();
  } catch (error) {
    if (error.needsToken) askToken();
    else showProblem(error, start);
  }
}

const labels = (rankings) => [...new Set(rankings.flatMap(({ items }) => items.map(({ item }) => item)))];

function describe(facts, rankings, feedback) {
  const sizes = labels(rankings).map(sizeOf);
  document.body.dataset.labels = ["long", "medium"].find((size) => sizes.includes(size)) ?? "short";
  element("facts").textContent = `Learned from ${count(facts.n_users, "person").replace("persons", "people")} who compared ${count(facts.n_items, "item")}.`;
  element("privacy").textContent = feedback
    ? "Your answers are kept in this browser, and stored by the service under a random name to improve the rankings."
    : "Your answers are kept in this browser only.";
}

function askToken() {
  hideProblem();
  const again = readToken() ? "That token was not accepted. " : "";
  element("token-note").textContent = `${again}It is kept until you close this tab.`;
  element("token-form").hidden = false;
  element("token").focus();
}

function show() {
  const exploring = location.hash === "#explore";
  element("prefer").hidden = exploring;
  element("explore").hidden = !exploring;
  mark("to-prefer", !exploring);
  mark("to-explore", exploring);
  document.title = exploring ? "The rankings people share" : "Which do you prefer?";
  if (!exploring || !page.model) return;
  drawCamps(page.model.rankings, page.questions.weights());
  if (!page.explored) openExplore(page.model);
  page.explored = true;
}

function mark(id, current) {
  if (current) element(id).setAttribute("aria-current", "page");
  else element(id).removeAttribute("aria-current");
}

addEventListener("hashchange", () => {
  if (location.hash === "#main") return; // the skip link stays in its part
  show();
  element(location.hash === "#explore" ? "explore-title" : "question").focus();
});
element("token-form").addEventListener("submit", (event) => {
  event.preventDefault();
  keepToken(element("token").value.trim());
  element("token").value = "";
  start();
});
show();
start();
