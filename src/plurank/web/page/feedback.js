// Sends answers to the service to be stored: once each, later when it is out of reach, never in silence when it refuses.

import { post } from "./service.js";
import { count } from "./words.js";

const GRACE = 3000; // an answer taken back at once is never sent
const LONGEST_WAIT = 60000;

export function openFeedback(memory, say) {
  const self = { memory, say, sending: false, underway: "", wait: GRACE, timer: 0, refusal: "" };
  addEventListener("online", () => send(self));
  addEventListener("pagehide", () => send(self, { hurry: true }));
  document.addEventListener("visibilitychange", () => document.hidden && send(self, { hurry: true }));
  schedule(self, 0);
  return {
    add(answer) {
      memory.queue.push({ ...answer, user: memory.visitor, at: Date.now() });
      schedule(self, self.wait);
    },
    // true when it had not been sent
    withdraw(id) {
      const here = memory.queue.some((entry) => entry.id === id) && self.underway !== id;
      if (here) memory.queue = memory.queue.filter((entry) => entry.id !== id);
      return here;
    },
    resume() { schedule(self, 0); },
  };
}

function schedule(self, wait) {
  clearTimeout(self.timer);
  if (self.memory.queue.length) self.timer = setTimeout(() => send(self), wait);
}

async function send(self, { hurry = false } = {}) {
  if (self.sending) return;
  self.sending = true;
  try {
    for (let entry = nextDue(self, hurry); entry; entry = nextDue(self, hurry)) await sendOne(self, entry, hurry);
    self.wait = GRACE;
  } catch {
    self.wait = Math.min(2 * self.wait, LONGEST_WAIT);
  }
  Object.assign(self, { sending: false, underway: "" });
  tell(self);
  schedule(self, self.wait);
}

const nextDue = (self, hurry) => self.memory.queue.find((entry) => hurry || entry.at <= Date.now() - GRACE);

async function sendOne(self, entry, hurry) {
  const { id, user, winner, loser } = entry;
  self.underway = id;
  try {
    await post("feedback", { id, user, winner, loser }, { keepalive: hurry });
  } catch (error) {
    if (error.passes || error.needsToken) throw error;
    self.refusal = error.message; // asking again would not help
  }
  self.memory.queue = self.memory.queue.filter((other) => other.id !== id);
  self.memory.save();
}

function tell(self) {
  const late = self.memory.queue.filter((entry) => entry.at <= Date.now() - GRACE).length;
  if (self.refusal) self.say(`An answer of yours was not stored. ${self.refusal}`);
  else if (late) self.say(`${count(late, "answer")} not stored by the service yet; the page keeps trying.`);
  else self.say("");
}
