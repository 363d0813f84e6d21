// SPDX-License-Identifier: Apache-2.0
// What the pages of programs draw with; files.py puts it into each.
const $ = id => document.getElementById(id);
const sum = list => list.reduce((a, b) => a + b, 0);
const median = list => { const s = [...list].sort((a, b) => a - b), m = s.length >> 1; return s.length % 2 ? s[m] : (s[m - 1] + s[m]) / 2; };
const number = (x, digits = 2) => x.toLocaleString("en", {maximumFractionDigits: digits});
const time = ns => ns >= 1e9 ? number(ns / 1e9) + " s" : ns >= 1e6 ? number(ns / 1e6) + " ms" : number(ns / 1e3) + " µs";
const bytes = b => b >= 1 << 20 ? number(b / (1 << 20)) + " MiB" : b >= 1024 ? number(b / 1024, 1) + " KiB" : number(b) + " B";
const short = name => name.replace(/^ttnn\./, "");
const file = location => location.replace(/[^\s"(),]*\//g, "");
const hue = name => { let h = 7; for (const c of name) h = (h * 31 + c.charCodeAt(0)) % 360; return h; };
const color = name => name.startsWith("debug.") ? "var(--soft)" : `hsl(${hue(short(name))} 58% 62%)`;

function svg(tag, attributes, parent, text) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (text !== undefined) node.textContent = text;
  if (parent) parent.append(node);
  return node;
}
function canvas(id, height) {
  const node = $(id), width = Math.max(node.clientWidth, 300);
  node.setAttribute("viewBox", `0 0 ${width} ${height}`);
  node.style.height = height + "px";
  node.replaceChildren();
  return [node, width];
}
function tip(node, text) {
  node.addEventListener("mousemove", event => {
    const box = $("tip");
    box.textContent = text();
    box.style.display = "block";
    box.style.left = Math.min(event.clientX + 14, innerWidth - box.offsetWidth - 8) + "px";
    box.style.top = Math.min(event.clientY + 14, innerHeight - box.offsetHeight - 8) + "px";
  });
  node.addEventListener("mouseleave", () => { $("tip").style.display = "none"; });
}
