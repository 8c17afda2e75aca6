import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { hasCode } from '../base/runtime/system-error.ts';

const root = path.resolve(import.meta.dirname, '../..');
/** Redoc in one file, from Redocly's command line package. */
const source = path.join(root, 'node_modules/@redocly/cli/lib/chunks/redoc.standalone.js');
const target = path.join(root, 'dist/redoc.js');

/** Redoc's own logo. The page would load nothing else from other hosts. */
const remoteLogo = /https:\/\/cdn\.redoc\.ly\/redoc\/logo-mini(-full)?\.svg/g;
/** The name in text form. Grey is readable on the light and the dark background of the page. */
const inlineLogo = `data:image/svg+xml,${[
  "<svg xmlns='http://www.w3.org/2000/svg' width='36' height='14'>",
  "<text y='11' font-family='sans-serif' font-size='11' fill='gray'>Redoc</text></svg>",
]
  .map(encodeURIComponent)
  .join('')
  .replaceAll("'", '%27')}`;

/**
 * The last step of `npm ci`. Without the development packages it prints what is missing, and the installation
 * continues.
 */
const bundle = await readFile(source, 'utf8').catch((error: unknown) => {
  if (hasCode(error, 'ENOENT')) return undefined;
  throw error;
});
if (bundle === undefined) {
  console.log('The reference pages are not built: this needs the development packages (npm ci without --omit=dev).');
} else {
  await mkdir(path.dirname(target), { recursive: true });
  await writeFile(target, bundle.replaceAll(remoteLogo, inlineLogo));
  const { renderChanges } = await import('./change-list.ts');
  await writeFile(path.join(root, 'dist/changes.html'), await renderChanges(root));
}
