// Sends answers to the service as soon as they are given, again until it has them, and all at once when the page goes away.

import { post } from "./service.js";
import { count } from "./words.js";

const FIRST_WAIT = 1000;
const LONGEST_WAIT = 30000;
const LATE = 3000; // an answer that is not stored by then is worth a word
const MOST_BYTES = 50000; // browsers send 64 KiB on behalf of a page that is gone
const MOST_ANSWERS = 500;

export function openFeedback(memory, say) {
  const self = { memory, say, sending: false, wait: FIRST_WAIT, timer: 0, notice: "" };
  addEventListener("online", () => send(self));
  addEventListener("pagehide", () => send(self, { hurry: true }));
  document.addEventListener("visibilitychange", () => document.hidden && send(self, { hurry: true }));
  send(self);
  return {
    add(answer) { enqueue(self, answer); },
    // the service forgets an answer by its id, whether it comes before or after this
    withdraw(answer) { enqueue(self, { ...answer, withdrawn: true }); },
    resume() { send(self); },
    nWaiting: () => memory.queue.filter((entry) => !entry.withdrawn).length,
  };
}

function enqueue(self, { id, winner, loser, withdrawn = false }) {
  const entry = { id, user: self.memory.visitor, winner, loser, withdrawn, at: Date.now() };
  self.memory.queue = [...self.memory.queue.filter((other) => other.id !== id), entry];
  self.memory.save();
  send(self);
}

async function send(self, { hurry = false, retry = false } = {}) {
  clearTimeout(self.timer);
  if ((self.sending && !hurry) || !self.memory.queue.length) return;
  self.sending = true;
  try {
    for (let entries = nextPart(self); entries.length; entries = nextPart(self)) {
      await sendPart(self, entries);
      self.wait = FIRST_WAIT;
    }
  } catch {
    if (retry) self.wait = Math.min(2 * self.wait, LONGEST_WAIT); // new answers are tried at once, and change nothing
    self.timer = setTimeout(() => send(self, { retry: true }), self.wait * (0.75 + Math.random() / 2)); // not all visitors at once
  }
  self.sending = false;
  tell(self);
}

// the oldest entries, as many as one request may carry
function nextPart(self) {
  const entries = self.memory.queue.slice(0, MOST_ANSWERS);
  while (entries.length > 1 && sizeOf(entries) > MOST_BYTES) entries.length = Math.ceil(entries.length / 2);
  return entries;
}

const sizeOf = (entries) => new Blob([JSON.stringify(entries)]).size;

async function sendPart(self, entries) {
  const answers = entries.map(({ id, user, winner, loser, withdrawn }) => ({ id, user, winner, loser, withdrawn }));
  try {
    const found = await post("feedback", { answers }, { keepalive: sizeOf(entries) <= MOST_BYTES });
    found.answers.forEach(({ outcome, error }) => {
      if (error) self.notice = `An answer of yours was not stored. The service says: ${error}`;
      if (outcome === "learned") self.notice = "One answer had been used already and could not be taken back.";
    });
  } catch (error) {
    if (error.passes || error.needsToken) throw error;
    self.notice = `${count(entries.length, "answer")} of yours could not be stored. ${error.message}`; // asking again would not help
  }
  // an entry that was withdrawn meanwhile is another one
  self.memory.queue = self.memory.queue.filter((entry) => !entries.some(({ id, withdrawn }) => id === entry.id && withdrawn === entry.withdrawn));
  self.memory.save();
}

function tell(self) {
  const late = self.memory.queue.filter((entry) => entry.at <= Date.now() - LATE).length;
  if (self.notice) self.say(self.notice);
  else if (late) self.say(`${count(late, "answer")} not stored by the service yet; the page keeps trying.`);
  else self.say("");
}
