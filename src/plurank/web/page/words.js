// Numbers in words, as the page says them.

export const count = (n, noun) => `${n.toLocaleString("en")} ${noun}${n === 1 ? "" : "s"}`;
// never two stops: many items are sentences themselves
export const stopped = (text) => text + (/[.!?…]["”’)]?$/.test(text) ? "" : ".");
export const asSentence = (text) => (text ? stopped(text[0].toUpperCase() + text.slice(1)) : "");
export const percent = (share) => `${Math.round(100 * share)}%`;
// some models give places without bounds
export const isAnywhere = ({ lower, upper }, nItems) => nItems > 1 && lower === 1 && upper === nItems;
export function between({ lower, upper }, nItems) {
  if (lower === null) return "";
  if (isAnywhere({ lower, upper }, nItems)) return "any place";
  return lower === upper ? `${lower}` : `${lower} and ${upper}`;
}

// items may be numbers, and 7 is not "7": shown alike, kept apart
export const keyOf = (item) => JSON.stringify(item);
export const sizeOf = (length) => (length > 90 ? "long" : length > 30 ? "medium" : "short");

// at the end of a word, where there is one
export function shorten(text, most = 40) {
  const letters = [...text];
  if (letters.length <= most) return text;
  const cut = letters.slice(0, most).join("");
  const whole = cut.slice(0, Math.max(cut.lastIndexOf(" "), 0)).replace(/[\s,;:.]+$/, "");
  return `${whole.length > most / 2 ? whole : cut}…`;
}

export function expectation(probability) {
  if (probability >= 0.65) return `We expected that (${percent(probability)}).`;
  if (probability >= 0.35) return `It could have gone either way (${percent(probability)}).`;
  return `A surprise: we gave it ${percent(probability)}.`;
}

// how well the shares are known: half the width of their intervals, on average
export function sureness(weights, nAnswers) {
  if (weights.length === 1) return "There is one ranking for everybody.";
  if (!nAnswers) return "Before your first answer we take you for the average person, which may be far off.";
  const half = weights.reduce((sum, row) => sum + (row.upper - row.lower) / 2, 0) / weights.length;
  const words = half > 0.25 ? "A first guess" : half > 0.17 ? "Getting an idea" : half > 0.1 ? "Fairly sure" : "Quite sure";
  return `${words} after ${count(nAnswers, "answer")}: give or take ${Math.round(100 * half)} points. ${leader(weights)}`;
}

function leader(weights) {
  const [first, second] = [...weights].sort((a, b) => b.weight - a.weight);
  return first.lower > second.upper
    ? `Ranking ${first.ranking} is clearly your main one.`
    : `Ranking ${first.ranking} leads, but ranking ${second.ranking} may still be ahead.`;
}
