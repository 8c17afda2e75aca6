import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { indexes } from '../src/app.ts';
import { createMetrics } from '../src/observability/metrics.ts';

const root = path.join(import.meta.dirname, '..');
const text = await readFile(path.join(root, 'ARCHITECTURE.md'), 'utf8');

/**
 * The files that the tables name for a behaviour. After the first one in a cell, a name without a folder is in the same
 * folder.
 */
function namedFiles(): string[] {
  return text.split('\n').flatMap((line) => {
    const cells = line.split('|').map((cell) => cell.trim());
    let folder = '';
    return [...(cells[2] ?? '').matchAll(/`([\w/-]+\.ts)`/g)].map(([, file = '']) => {
      if (file.includes('/')) folder = path.dirname(file);
      return file.includes('/') || folder === '' ? file : `${folder}/${file}`;
    });
  });
}

/** The first column of the table of data. */
function namedCollections(): string[] {
  const [, section = ''] = /## Data\n([^]*?)\n\n[^|]+\n/.exec(text) ?? [];
  return [...section.matchAll(/^\| `(\w+)` /gm)].map(([, name = '']) => name);
}

describe('ARCHITECTURE', () => {
  it('names files that exist', () => {
    const files = namedFiles();
    expect(files.length).toBeGreaterThan(60);
    expect(files.filter((file) => !existsSync(path.join(root, 'src', file)))).toEqual([]);
  });

  it('describes every collection', () => {
    const collections = indexes.map(({ collection }) => collection);
    expect(namedCollections()).toEqual(expect.arrayContaining([...collections, 'lanes']));
  });

  it('names only metrics that the service has', async () => {
    const named = new Set(text.match(/\bwebhook_[a-z_]+\b/g));
    const rendered = await createMetrics().render();
    expect(named.size).toBeGreaterThan(5);
    expect([...named].filter((name) => !rendered.includes(`# TYPE ${name} `))).toEqual([]);
  });
});
