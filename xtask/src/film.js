// Turns the picture of a session into an SVG file of its own, in which the session fills in from left to right.
// Runs in the page; returns the file's text.
const LENGTH = 12, STILL = 5; // seconds
const STYLES = ['fill', 'fill-opacity', 'stroke', 'stroke-width', 'stroke-dasharray', 'stroke-opacity',
  'stroke-linecap', 'stroke-linejoin', 'opacity', 'font-size', 'font-weight', 'text-anchor'];
const drawing = document.querySelector('svg.picture');
const from = drawing.getBoundingClientRect();
const labels = [...document.querySelectorAll('.lane-names li')].map((label) => ({
  text: label.innerText.trim().replace(/\s+/g, ' '), box: label.getBoundingClientRect() }));
const left = Math.min(from.left, ...labels.map((label) => label.box.left));
const scale = drawing.viewBox.baseVal.width / from.width;
const margin = Math.round((from.left - left) * scale);
const [width, height] = [drawing.viewBox.baseVal.width, drawing.viewBox.baseVal.height];
const columns = 1 + Math.max(...[...drawing.querySelectorAll('g[data-at]')].map((mark) => Number(mark.dataset.at.split('-')[1])));

function copy(node) {
  if (node.nodeType === Node.TEXT_NODE) return node.textContent.trim() ? document.createTextNode(node.textContent) : null;
  if (node.nodeType !== Node.ELEMENT_NODE || node.tagName === 'title') return null;
  const name = node.tagName === 'a' ? 'g' : node.tagName;
  const made = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const { name, value } of node.attributes) {
    if (!/^(class|href|data-|aria-|role|style|tabindex|id|preserveAspectRatio)/.test(name)) made.setAttribute(name, value);
  }
  if (['path', 'rect', 'circle', 'line', 'text'].includes(name)) {
    const style = getComputedStyle(node), plain = getComputedStyle(drawing);
    for (const key of STYLES) {
      const value = style.getPropertyValue(key);
      if (value !== plain.getPropertyValue(key) || key === 'fill') made.setAttribute(key, value);
    }
  }
  // The animation sets the opacity, so a line's own becomes that of its stroke.
  if (name === 'path' && made.hasAttribute('opacity')) {
    made.setAttribute('stroke-opacity', made.getAttribute('opacity'));
    made.removeAttribute('opacity');
  }
  const at = node.dataset && (node.dataset.at || node.dataset.to);
  if (at) made.setAttribute('class', 'c' + at.split('-')[1]);
  for (const child of node.childNodes) {
    const inner = copy(child);
    if (inner) made.append(inner);
  }
  return made;
}

let frames = '';
for (let column = 0; column < columns; column++) {
  const start = (100 * (LENGTH * (column + 0.5)) / columns) / (LENGTH + STILL);
  frames += `@keyframes k${column}{0%,${start.toFixed(1)}%{opacity:0}${(start + 2).toFixed(1)}%,100%{opacity:1}}.c${column}{animation:k${column} ${LENGTH + STILL}s infinite}`;
}
const body = [...drawing.childNodes].map(copy).filter(Boolean).map((node) => new XMLSerializer().serializeToString(node)
  .replaceAll(' xmlns="http://www.w3.org/2000/svg"', '')).join('\n');
const ink = getComputedStyle(document.body).color, paper = getComputedStyle(document.body).backgroundColor;
const names = labels.map(({ text, box }) => {
  const middle = Math.round((box.top + box.height / 2 - from.top) * scale + 5);
  const cut = text.length > 16 ? text.lastIndexOf(' ') : -1;
  const lines = cut > 0 ? [text.slice(0, cut), text.slice(cut + 1)] : [text];
  return lines.map((line, nth) =>
    `<text x="12" y="${middle + (lines.length > 1 ? 18 * nth - 8 : 0)}" fill="${ink}" font-size="15">${line}</text>`).join('');
}).join('\n');
const caption = 'Squares: what agents wrote. Circles: agents that were briefed. Lines: what each one was given (dotted: reasoning; orange: it never arrived).';
return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width + margin} ${height + 34}" font-family="system-ui, sans-serif" role="img" aria-label="A session fills in: agents in lanes, packages they wrote, and lines to the agents that were given them">
<style>${frames}@media (prefers-reduced-motion: reduce){*{animation:none!important}}</style>
<rect width="100%" height="100%" rx="8" fill="${paper}"/>
${names}
<g transform="translate(${margin})">
${body}
</g>
<text x="12" y="${height + 20}" fill="${ink}" fill-opacity="0.7" font-size="14">${caption}</text>
</svg>
`;
