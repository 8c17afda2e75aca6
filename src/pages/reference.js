// Shows the document that the page names with Redoc. Runs in the browser.

const element = document.getElementById('reference');
const { document: url, redoc } = element.dataset;

const [{ init }, text] = await Promise.all([import(redoc), read(url)]);
// The document names the address of a start without configuration. The reader came from the one that works.
const definition = JSON.parse(text.replaceAll('http://127.0.0.1:8080', location.origin));
init(definition, { skipBundle: true, disableTelemetry: true, downloadUrls: [{ title: url.slice(1), url }] }, element);

async function read(address) {
  const response = await fetch(address);
  if (response.ok) return await response.text();
  element.textContent = `The reference cannot be shown: ${address} returned the status ${response.status}.`;
  throw new Error(element.textContent);
}
