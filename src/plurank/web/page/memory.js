// What this browser remembers of a visitor: a random name, every step taken, the pair asked, and answers not stored yet.

export function openMemory(namespace) {
  const key = `plurank:${namespace}`;
  const memory = { ...fresh(), ...read(key) };
  return Object.assign(memory, {
    key,
    save() {
      const { visitor, steps, queue, keys, asked, more } = memory;
      try { localStorage.setItem(key, JSON.stringify({ visitor, steps, queue, keys, asked, more })); } catch { /* full or forbidden: this tab remembers */ }
    },
    // another tab went on
    reload() { Object.assign(memory, fresh(), read(key)); },
    // whoever comes now is somebody else; what the last one said is still to be sent
    forget() {
      Object.assign(memory, { visitor: randomName(), steps: [], asked: null, more: 0 });
      memory.save();
    },
    answers: () => memory.steps.filter((step) => step.winner !== undefined).map(({ winner, loser }) => ({ winner, loser })),
    skipped: () => memory.steps.filter((step) => step.winner === undefined).map(({ left, right }) => ({ left, right })),
  });
}

const fresh = () => ({ visitor: randomName(), steps: [], queue: [], keys: true, asked: null, more: 0 });

function read(key) {
  try {
    const found = JSON.parse(localStorage.getItem(key));
    return Array.isArray(found?.steps) && Array.isArray(found?.queue) ? found : {};
  } catch {
    return {};
  }
}

// crypto.randomUUID is missing on plain http, where this page may well live
export function randomName() {
  return Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

// FNV-1a: short and steady is all that is needed
export function fingerprint(text) {
  let hash = 0x811c9dc5;
  for (const character of text) hash = Math.imul(hash ^ character.codePointAt(0), 0x01000193) >>> 0;
  return hash.toString(36);
}
