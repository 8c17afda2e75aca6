/** The served contract, as generators of clients read it. */
import { expect, it } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import path from 'node:path';

interface Served {
  readonly components: Readonly<Record<string, object>> & {
    readonly schemas: Readonly<Record<string, { readonly enum?: readonly string[] }>>;
  };
}

const text = await readFile(path.join(import.meta.dirname, '../../generated/openapi.json'), 'utf8');
const { components } = JSON.parse(text) as Served;

it('has no component that nothing refers to', () => {
  const unused = Object.entries(components)
    .filter(([kind]) => kind !== 'securitySchemes')
    .flatMap(([kind, entries]) => Object.keys(entries).map((name) => `#/components/${kind}/${name}`))
    .filter((reference) => !text.includes(`"${reference}"`));
  expect(unused).toEqual([]);
});

it('has no value in two lists that are components: in Go, each is a constant of the package', () => {
  const values = Object.values(components.schemas).flatMap((schema) => schema.enum ?? []);
  expect(values.length).toBeGreaterThan(0);
  expect(values.filter((value, index) => values.indexOf(value) !== index)).toEqual([]);
});
