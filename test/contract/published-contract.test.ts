/** The served contract, as generators of clients read it. */
import { expect, it } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import path from 'node:path';

interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly properties?: object;
}

interface Served {
  readonly components: Readonly<Record<string, object>> & { readonly schemas: Readonly<Record<string, Schema>> };
}

const root = path.join(import.meta.dirname, '../..');
const text = await readFile(path.join(root, 'generated/openapi.json'), 'utf8');
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

it('has the unions that the guide names for Java: those with a list, or an object of any members', async () => {
  const isGeneric = (part: Schema): boolean => {
    const { type, properties } = components.schemas[part.$ref?.split('/').at(-1) ?? ''] ?? part;
    return type === 'array' || (type === 'object' && properties === undefined);
  };
  const unions = Object.entries(components.schemas).filter(([, { anyOf = [], oneOf = [] }]) =>
    [...anyOf, ...oneOf].some(isGeneric),
  );
  const guide = await readFile(path.join(root, 'openapi/guides/91-generate-a-client.md'), 'utf8');
  const [, mappings = ''] = /^--schema-mappings (.+)$/m.exec(guide) ?? [];
  expect(mappings.split(',')).toEqual(unions.map(([name]) => `${name}=Object`).toSorted());
});
