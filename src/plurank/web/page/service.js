// What the page says to the service. Every failure is a ServiceError whose message is a sentence to show.

const TOKEN = "plurank:token";

export class ServiceError extends Error {
  constructor(message, status = 0) {
    super(message);
    this.status = status;
  }
  get needsToken() { return this.status === 401; }
  // worth another try without a change: out of reach, overloaded or broken for now
  get passes() { return this.status === 0 || this.status === 408 || this.status === 429 || this.status >= 500; }
}

export const get = (path, options) => request(path, options);
export const post = (path, body, options) => request(path, { ...options, method: "POST", body: JSON.stringify(body) });

export function keepToken(token) {
  try { sessionStorage.setItem(TOKEN, token); } catch { /* then it is asked for again */ }
}

async function request(path, options = {}) {
  let response;
  try {
    response = await fetch(path, { ...options, headers: headers(options) });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ServiceError("The service does not answer. Your answers are safe in this browser, and the page goes on when it is back.");
  }
  const content = await response.json().catch(() => null);
  if (!response.ok) throw new ServiceError(sentence(response, content), response.status);
  return content;
}

function headers(options) {
  const given = options.body ? { "Content-Type": "application/json" } : {};
  const token = readToken();
  return token ? { ...given, Authorization: `Bearer ${token}` } : given;
}

export function readToken() {
  try { return sessionStorage.getItem(TOKEN); } catch { return null; }
}

function sentence(response, content) {
  if (typeof content?.error === "string") return `The service says: ${content.error}`;
  return `The service could not do that (it answered ${response.status}). Try again in a moment.`;
}
