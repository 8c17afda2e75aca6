import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';

export const root = new URL('../', import.meta.url);

/** With the hash of the contract from which the validators were made. */
export const contractHashFile = new URL('dist/validators/contract.sha256', root);

/** What the validators are made of: the document of the API, and the schema of each event. */
export async function contractFiles(): Promise<{ api: URL; events: { type: string; file: URL }[] }> {
  const folder = new URL('generated/event-schemas/', root);
  const events = (await readdir(folder))
    .toSorted()
    .map((name) => ({ type: name.replace(/\.json$/, ''), file: new URL(name, folder) }));
  return { api: new URL('generated/openapi.json', root), events };
}

export async function contractHash(): Promise<string> {
  const hash = createHash('sha256');
  const { api, events } = await contractFiles();
  for (const file of [api, ...events.map((event) => event.file)]) hash.update(await readFile(file));
  return hash.digest('hex');
}

/**
 * Whether `npm ci` has made the validators of this contract: after a change of branch they may be those of another one,
 * and would let through what this one refuses.
 */
export async function isBuiltForContract(): Promise<boolean> {
  const built = await readFile(contractHashFile, 'utf8').catch(() => undefined);
  return built === (await contractHash());
}
