// The bump chart: a Vega-Lite figure from the service, drawn in the page's colours.

import { element } from "./portrait.js";
import { get } from "./service.js";

// the colours of plurank's figures (report/theme.py), and which of ours take their place
const COLOURS = { "#1f2328": "--ink", "#59636e": "--quiet", "#d1d9e0": "--rule", "#ffffff": "--sheet" };

// without a chart the table says the same, so whatever goes wrong here is no problem to show
export async function drawChart() {
  try {
    const [spec] = await Promise.all([get("figures/rankings"), loadVega()]);
    await embed(spec);
    const frame = element("chart").parentElement;
    element("swipe").hidden = frame.scrollWidth <= frame.clientWidth;
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => embed(spec));
  } catch {
    element("figure").hidden = true;
  }
}

function loadVega() {
  const script = Object.assign(document.createElement("script"), { src: "vega.js" });
  return new Promise((resolve, reject) => {
    script.addEventListener("load", resolve);
    script.addEventListener("error", reject);
    document.head.append(script);
  });
}

// `ast` has expressions interpreted, because the page may not run code made from text; styles are in page.css
function embed(spec) {
  const options = { actions: false, ast: true, defaultStyle: false, mode: "vega-lite", renderer: "canvas", tooltip: { disableDefaultStyle: true } };
  return window.vegaEmbed(element("chart"), inOurColours(spec, getComputedStyle(document.body)), options);
}

// everywhere but in the data, whose labels may look like anything
function inOurColours(part, style, key = "") {
  if (key === "values" || key === "datasets") return part;
  if (Array.isArray(part)) return part.map((inner) => inOurColours(inner, style));
  if (part !== null && typeof part === "object") {
    return Object.fromEntries(Object.entries(part).map(([name, inner]) => [name, inOurColours(inner, style, name)]));
  }
  return COLOURS[part] ? style.getPropertyValue(COLOURS[part]) : part;
}
