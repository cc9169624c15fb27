// The page as a whole: gets to know what is asked, then asks, remembers and shows.

import { drawCamps, openExplore } from "./explore.js";
import { openMemory } from "./memory.js";
import { element } from "./portrait.js";
import { openQuestions } from "./questions.js";
import { get, keepToken, readToken } from "./service.js";
import { hideProblem, showProblem } from "./problem.js";
import { count, sizeOf } from "./words.js";

const N_PLACES = 200; // of every ranking, in the table
const QUESTION = "Which do you prefer?";

const page = { model: null, questions: null, explored: false };

async function start() {
  try {
    const survey = await get("survey");
    // in a survey the service tells nothing about what others said
    const [health, found] = survey.hide_results ? [null, null] : await Promise.all([get("health"), get(`rankings?top=${N_PLACES}`)]);
    hideProblem();
    element("token-form").hidden = true;
    if (page.questions) {
      page.questions.resume();
      return;
    }
    page.model = { ...survey, nItems: survey.n_items, rankings: found?.rankings ?? [], ground: found?.common_ground ?? [], hidden: survey.hide_results };
    describe(page.model, health?.model);
    // by items, not by fit: a model fitted again still knows what its visitors said
    page.questions = openQuestions(page.model, openMemory(survey.items_key), askToken);
    show();
  } catch (error) {
    if (error.needsToken) askToken();
    else showProblem(error, start);
  }
}

function describe(model, facts) {
  document.body.dataset.labels = sizeOf(model.longest_text);
  element("title").textContent = model.title ?? "plurank";
  element("question").textContent = model.question ?? QUESTION;
  element("lead").textContent = model.hidden
    ? "There are no right answers. If you cannot say, skip the question."
    : "A few quick choices show which of the shared rankings you follow, and how much of each.";
  element("parts").hidden = element("portrait").hidden = model.hidden;
  element("facts").textContent = facts?.n_users ? `Learned from ${count(facts.n_users, "person").replace("persons", "people")} who compared ${count(facts.n_items, "item")}.` : "";
  element("privacy").textContent = model.feedback
    ? "Your answers are stored by the service under a random name, and kept in this browser. A random cookie helps to notice when somebody votes many times."
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
  const exploring = location.hash === "#explore" && !page.model?.hidden;
  element("prefer").hidden = exploring;
  element("explore").hidden = !exploring;
  mark("to-prefer", !exploring);
  mark("to-explore", exploring);
  document.title = exploring ? "The rankings people share" : page.model?.title ?? page.model?.question ?? QUESTION;
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
  element(element("explore").hidden ? "question" : "explore-title").focus();
});
element("token-form").addEventListener("submit", (event) => {
  event.preventDefault();
  keepToken(element("token").value.trim());
  element("token").value = "";
  start();
});
show();
start();
