import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { indexes } from '../src/app.ts';

const root = path.join(import.meta.dirname, '..');
const text = await readFile(path.join(root, 'ARCHITECTURE.md'), 'utf8');

/** The files and folders that the page names, relative to the repository or to `src/`. */
function namedPaths(): string[] {
  return [...text.matchAll(/`([\w.-]+\/(?:[\w.-]+\/)*(?:[\w-]+\.ts)?)`/g)].map(([, named = '']) => named);
}

/** The first column of the table of data. */
function namedCollections(): string[] {
  const [, section = ''] = /## Data\n([^]*?)\n## /.exec(text) ?? [];
  return [...section.matchAll(/^\| `(\w+)` /gm)].map(([, name = '']) => name);
}

describe('ARCHITECTURE', () => {
  it('names files and folders that exist', () => {
    const paths = namedPaths();
    expect(paths.length).toBeGreaterThan(60);
    const missing = paths.filter((named) => !['', 'src'].some((base) => existsSync(path.join(root, base, named))));
    expect(missing).toEqual([]);
  });

  it('describes every collection', () => {
    const collections = indexes.map(({ collection }) => collection);
    expect(namedCollections()).toEqual(expect.arrayContaining([...collections, 'lanes']));
  });

  it('stays short enough to be read', () => {
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(12 * 1024);
  });
});
