import { expect, it } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import path from 'node:path';

it('the served contract has no component that nothing refers to', async () => {
  const text = await readFile(path.join(import.meta.dirname, '../../generated/openapi.json'), 'utf8');
  const { components } = JSON.parse(text) as { components: Record<string, object> };
  const unused = Object.entries(components)
    .filter(([kind]) => kind !== 'securitySchemes')
    .flatMap(([kind, entries]) => Object.keys(entries).map((name) => `#/components/${kind}/${name}`))
    .filter((reference) => !text.includes(`"${reference}"`));
  expect(unused).toEqual([]);
});
