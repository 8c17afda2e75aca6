import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { contractHash, contractHashFile, contractFiles, root } from '../built-for.ts';
import type { OpenApiDocument, Schema } from './contract-document.ts';
import { renderEventValidators, renderValidators } from './validators.ts';

/**
 * The first step after `npm ci`: makes the validators of requests and events of the contract in `generated/`. They are
 * not committed, because every change of the contract changes thousands of their lines. The service does not make them
 * when it starts: that takes half a second and 60 MB, and fails where code must not be made from texts.
 */
const read = async (file: URL): Promise<unknown> => JSON.parse(await readFile(file, 'utf8'));
const { api, events: schemas } = await contractFiles();
const requests = renderValidators((await read(api)) as OpenApiDocument);
const events = renderEventValidators(
  Object.fromEntries(
    await Promise.all(schemas.map(async ({ type, file }) => [type, (await read(file)) as Schema] as const)),
  ),
);
const files = {
  'requests.js': requests.fast,
  'requests.d.ts': requests.declarations,
  'requests-thorough.js': requests.thorough,
  'requests-thorough.d.ts': requests.declarations,
  'events.js': events.code,
  'events.d.ts': events.declarations,
};
const folder = new URL('dist/validators/', root);
await mkdir(folder, { recursive: true });
await Promise.all(Object.entries(files).map(([name, content]) => writeFile(new URL(name, folder), content)));
await writeFile(contractHashFile, await contractHash());
