// Shows the document that the page names with Redoc. Runs in the browser.

const element = document.getElementById('reference');
const { base, document: url, patch, redoc } = element.dataset;

const [{ init }, definition, changes] = await Promise.all([import(redoc), read(url), patch === '' ? {} : read(patch)]);
const options = {
  skipBundle: true,
  disableTelemetry: true,
  downloadUrls: [{ title: url.slice(base.length + 1), url }],
  codeSamples: { languages: [{ lang: 'curl' }, { lang: 'TypeScript' }] },
};
init(merge(definition, changes), options, element);

async function read(address) {
  const response = await fetch(address);
  if (response.ok) {
    const text = await response.text();
    // The documents name the address of a start without configuration. The reader came from the one that works.
    const address = location.origin + base;
    const here = text.replaceAll('http://127.0.0.1:8080', address).replaceAll(/\]\(\/(?=docs|client)/g, `](${base}/`);
    return JSON.parse(here, (name, value) =>
      name === 'description' && typeof value === 'string' ? joinLines(value) : value,
    );
  }
  element.textContent = `The reference cannot be shown: ${address} returned the status ${response.status}.`;
  throw new Error(element.textContent);
}

/** Makes one line of each paragraph: Redoc's search drops line breaks without a space in their place. */
function joinLines(markdown) {
  const parts = markdown.split(/(^```[^]*?^```)/m);
  const join = (text) => text.replaceAll(/(?<=[^\n])\n *(?![-*+] |[|>#\s]|\d+[.)] )/g, ' ');
  return parts.map((part) => (part.startsWith('```') ? part : join(part))).join('');
}

/** Applies a JSON Merge Patch (RFC 7396). */
function merge(target, changes) {
  const kept = Object.entries(target).filter(([name]) => changes[name] !== null);
  const changed = Object.entries(changes).filter(([, value]) => value !== null);
  const merged = changed.map(([name, value]) => [name, isObject(value) ? merge(target[name] ?? {}, value) : value]);
  return Object.fromEntries([...kept, ...merged]);
}

function isObject(value) {
  return typeof value === 'object' && !Array.isArray(value);
}
