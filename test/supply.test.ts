import { readFile } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';

const read = (name: string): Promise<string> => readFile(new URL(`../${name}`, import.meta.url), 'utf8');

interface Locked {
  readonly license?: string;
  readonly dev?: boolean;
  readonly link?: boolean;
}

const permissive = new Set([
  ...['MIT', 'Apache-2.0', 'ISC', 'BSD-2-Clause', 'BSD-3-Clause', '0BSD', 'BlueOak-1.0.0', 'Python-2.0', 'Unlicense'],
  ...['(MIT OR CC0-1.0)', '(AFL-2.1 OR BSD-3-Clause)', '(MPL-2.0 OR Apache-2.0)'],
]);
/** Of tools, data and a font: none is linked into the service. */
const ofDevelopment = new Set([...permissive, 'MPL-2.0', 'CC-BY-4.0', 'OFL-1.1']);
/** MIT, as their package.json states it in a form that npm does not know. */
const statedOtherwise = new Set(['busboy', 'memorystream', 'streamsearch']);

describe('the packages of the lock file', () => {
  it('have licences that the service may be given away under', async () => {
    const { packages } = JSON.parse(await read('package-lock.json')) as { packages: Record<string, Locked> };
    const refused = Object.entries(packages).filter(([path, { license = '', dev = false, link = false }]) => {
      const name = path.split('node_modules/').at(-1) ?? '';
      return !link && !statedOtherwise.has(name) && !(dev ? ofDevelopment : permissive).has(license);
    });
    expect(refused).toEqual([]);
  });
});

describe('the image', () => {
  it('is based on images that are pinned by digest', async () => {
    const dockerfile = await read('Dockerfile');
    expect(dockerfile).toMatch(/^ARG NODE_IMAGE=node:[\w.-]+@sha256:[0-9a-f]{64}$/m);
    expect([...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, image]) => image)).toEqual(
      Array.from({ length: 3 }, () => '${NODE_IMAGE}'),
    );
  });
});
