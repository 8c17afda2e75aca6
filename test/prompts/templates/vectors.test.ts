import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import * as clientTemplates from '../../../clients/typescript/src/template.ts';
import * as serviceTemplates from '../../../src/prompts/templates/render.ts';

type VariableDefinitions = serviceTemplates.VariableDefinitions;
type Rendering = serviceTemplates.Rendering;

interface Vector {
  readonly name: string;
  readonly template: string;
  readonly variables?: VariableDefinitions;
  readonly supplied?: Readonly<Record<string, unknown>>;
  readonly expected?: string;
  readonly missing?: readonly string[];
  readonly unknown?: readonly string[];
}

const { cases } = JSON.parse(readFileSync(new URL('vectors.json', import.meta.url), 'utf8')) as {
  cases: readonly Vector[];
};

describe('template test vectors', () => {
  it('have different names and exactly one outcome each', () => {
    expect(new Set(cases.map(({ name }) => name)).size).toBe(cases.length);
    for (const { expected, missing } of cases) expect((expected === undefined) !== (missing === undefined)).toBe(true);
  });
});

describe.each([
  ['service', serviceTemplates],
  ['client', clientTemplates],
])('templates of the %s', (_whose, { MissingVariablesError, renderMessages }) => {
  it.each(cases)('$name', ({ template, variables, supplied, expected, missing, unknown = [] }) => {
    const render = (): Rendering => renderMessages([{ role: 'user', content: template }], variables, supplied);
    if (missing === undefined) {
      expect(render()).toEqual({ messages: [{ role: 'user', content: expected }], unknown });
    } else {
      expect(render).toThrow(expect.objectContaining({ constructor: MissingVariablesError, names: missing, unknown }));
    }
  });
});
