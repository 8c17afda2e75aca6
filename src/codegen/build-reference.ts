import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { hasCode } from '../runtime/system-error.ts';

const root = path.resolve(import.meta.dirname, '../..');
/** Redoc as one file, which Redocly's command line brings with it. */
const source = path.join(root, 'node_modules/@redocly/cli/lib/chunks/redoc.standalone.js');
const target = path.join(root, 'dist/redoc.js');

/** Redoc's own logo is the only thing that its page would load from elsewhere. */
const remoteLogo = /https:\/\/cdn\.redoc\.ly\/redoc\/logo-mini(-full)?\.svg/g;
/** Its name, written out. Grey, so that it can be read on the page's light and dark ground. */
const inlineLogo = `data:image/svg+xml,${[
  "<svg xmlns='http://www.w3.org/2000/svg' width='36' height='14'>",
  "<text y='11' font-family='sans-serif' font-size='11' fill='gray'>Redoc</text></svg>",
]
  .map(encodeURIComponent)
  .join('')
  .replaceAll("'", '%27')}`;

/** `npm ci` runs this last. Without the development packages it says what is missing, and the installation goes on. */
const bundle = await readFile(source, 'utf8').catch((error: unknown) => {
  if (hasCode(error, 'ENOENT')) return undefined;
  throw error;
});
if (bundle === undefined) {
  console.log('The reference pages are not built: this needs the development packages (npm ci without --omit=dev).');
} else {
  await mkdir(path.dirname(target), { recursive: true });
  await writeFile(target, bundle.replaceAll(remoteLogo, inlineLogo));
}
