import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { parse } from 'yaml';
import type { IntendedChanges } from './intended-changes.ts';
import type { Contracts } from './surface.ts';

/** The contract of the last release. @param root of the repository */
export function releasedFolder(root: string): string {
  return path.join(root, 'openapi/released');
}

/** Both contracts, as a folder has them in `openapi.json` and `asyncapi.json`. */
export async function readContracts(folder: string): Promise<Contracts> {
  const [api, events] = await Promise.all(
    ['openapi.json', 'asyncapi.json'].map(async (name): Promise<unknown> =>
      JSON.parse(await readFile(path.join(folder, name), 'utf8')),
    ),
  );
  return { api, events } as Contracts;
}

export function intendedFile(root: string): string {
  return path.join(releasedFolder(root), 'intended-changes.yaml');
}

/** The intended breaking changes since the last release. */
export async function readIntended(root: string): Promise<IntendedChanges[]> {
  return parse(await readFile(intendedFile(root), 'utf8')) as IntendedChanges[];
}
