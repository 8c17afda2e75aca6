import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';

/** The most that the first load may have of scripts, compressed with gzip. */
const limitKiB = 250;
/** The same for a page that is opened with the editor of a prompt. */
const editorLimitKiB = 350;
/** What that page loads. The code editor comes when someone begins to edit. */
const editor = ['workspace/prompt-screen.tsx', 'editor/prompt-editor-screen.tsx'];

/** Vite's manifest, by source file. https://vite.dev/guide/backend-integration */
const manifestSchema = z.record(
  z.string(),
  z.object({
    file: z.string(),
    name: z.string().optional(),
    isEntry: z.boolean().default(false),
    isDynamicEntry: z.boolean().default(false),
    imports: z.array(z.string()).default([]),
  }),
);

/**
 * Prints the size of the scripts that the dashboard's first load has, and of those that each lazily loaded part adds,
 * as `npm ci` built them; fails if the first load or the editor is too large.
 */
const folder = process.argv[2] ?? path.resolve(import.meta.dirname, '../../dist/dashboard');
const manifest = manifestSchema.parse(JSON.parse(await readFile(path.join(folder, '.vite/manifest.json'), 'utf8')));
const keys = Object.keys(manifest);

const first = closure(keys.filter((key) => manifest[key]?.isEntry));
const firstKiB = await totalKiB([...first]);
const lazy = await Promise.all(
  keys
    .filter((key) => manifest[key]?.isDynamicEntry)
    .map(async (key) => ({ key, size: await totalKiB([...closure([key])].filter((chunk) => !first.has(chunk))) })),
);

console.log(`First load   ${firstKiB.toFixed(1)} KiB of gzipped script (at most ${limitKiB})`);
for (const { key, size } of lazy.sort((one, other) => other.size - one.size)) {
  console.log(`${`+${size.toFixed(1)}`.padStart(10)}   ${key}`);
}
const screens = keys.filter((key) => editor.some((file) => key === `src/screens/prompts/${file}`));
const editorKiB = await totalKiB([...closure([...first, ...screens])]);
if (screens.length > 0) console.log(`Editor       ${editorKiB.toFixed(1)} KiB (at most ${editorLimitKiB})`);
if (editorKiB > editorLimitKiB) {
  console.error('The editor is too large: load a part of it later.');
  process.exitCode = 1;
}
if (firstKiB > limitKiB) {
  console.error('The first load is too large: load a part of it lazily.');
  process.exitCode = 1;
}

/** These chunks and all that they import statically, directly or not. */
function closure(start: readonly string[]): Set<string> {
  const found = new Set(start);
  for (const key of found) for (const imported of manifest[key]?.imports ?? []) found.add(imported);
  return found;
}

async function totalKiB(chunks: readonly string[]): Promise<number> {
  const sizes = await Promise.all(
    chunks.map(async (key) => (await stat(path.join(folder, `${manifest[key]?.file ?? ''}.gz`))).size),
  );
  return sizes.reduce((sum, size) => sum + size, 0) / 1024;
}
