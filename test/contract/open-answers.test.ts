import { readFile } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import openapiTs, { astToString } from 'openapi-typescript';
import ts from 'typescript';
import { listOperations, resolve, type Schema } from '../../src/codegen/contract-document.ts';
import { checkAnswer } from '../support/contract-check.ts';
import { contract } from '../support/schema-arbitraries.ts';

const delivery = {
  id: 'b6e20d87-4f1a-4c95-a3d8-90f7e5c2b164',
  event_id: '2f9a7c54-8e01-4d63-b7a2-5c1d0e9f8b36',
  event_type: 'TEST',
  integration_id: 'f4d81b36-a05c-4e72-9b18-7c3e2d6f0a95',
  target_id: 'f4d81b36-a05c-4e72-9b18-7c3e2d6f0a95',
  attempt_count: 1,
  created_at: '2026-11-06T08:30:00.000Z',
};
const pageWith = (status: string): object => ({
  data: [
    { ...delivery, status: 'delivered' },
    { ...delivery, status },
  ],
  pagination: { total: 2, limit: 20, offset: 0, next: null },
});

describe('a value that a later release adds', () => {
  it('is valid in the published contract', () => {
    const ajv = new Ajv2020({ strict: false });
    formats.default(ajv, { mode: 'full' });
    ajv.addSchema({ $id: 'contract', components: contract.components });
    const validate = ajv.compile({ $ref: 'contract#/components/schemas/DeliveryPage' });
    expect([validate(pageWith('delivered')), validate(pageWith('a-later-value')), validate(pageWith(''))]).toEqual([
      ...[true, true, false],
    ]);
  });

  it('is invalid in the checks that tests run against the service', () => {
    const wrongWith = (status: string): string[] => {
      const headers = { 'content-type': 'application/json' };
      const answer = { status: 200, headers, text: JSON.stringify(pageWith(status)) };
      return checkAnswer('listDeliveries', answer).filter((wrong) => wrong.startsWith('body /data'));
    };
    expect(wrongWith('delivered')).toEqual([]);
    expect(wrongWith('a-later-value').join()).toContain('/data/1/status');
  });
});

describe('problems', () => {
  it.each(listOperations(contract).map(({ operation }) => [operation.operationId, operation] as const))(
    'of %s are listed in the schema of each answer, and any other is its default answer',
    (
      _operationId,
      { responses, 'x-openai-compatible': ofOpenai, 'x-anthropic-compatible': ofAnthropic, 'x-mcp': ofMcp },
    ) => {
      const forms = [ofOpenai && 'CompatibleError', ofMcp && 'McpError', ofAnthropic && 'AnthropicError'].filter(
        (form) => form !== undefined,
      );
      for (const [status, reference] of Object.entries(responses)) {
        const response = resolve(contract, reference);
        const types = response['x-problem-types'];
        if (status < '400' || status === 'default') continue;
        if (forms.length > 0) {
          const { schema } = response.content?.['application/json'] ?? {};
          const refs = forms.map((form) => ({ $ref: `#/components/schemas/${form}` }));
          expect(schema).toEqual(refs.length === 1 ? refs[0] : { anyOf: refs });
          continue;
        }
        const schema = resolve(contract, response.content?.['application/problem+json']?.schema);
        const [own] = schema?.['allOf'] as { properties: { type: Schema; status: Schema } }[];
        expect(own?.properties.status['const']).toBe(Number(status));
        expect(own?.properties.type['x-extensible-enum']).toEqual(
          types?.map((type) => `urn:prompt-gateway:problem:${type}`),
        );
      }
      const other = `${forms.map((form) => form.replace('Error', '')).join('')}OtherProblem`;
      expect(responses['default']).toEqual({ $ref: `#/components/responses/${other}` });
    },
  );
});

describe('types', () => {
  const client = (types: string): string => `
    import type { components, operations } from './${types}.ts';
    type Delivery = components['schemas']['DeliveryListItem'];
    export function describe({ status }: Delivery): string {
      const text: string = status;
      if (status === 'a-later-value') return text;
      switch (status) { case '': return text; }
      return text;
    }
    type Answers = operations['updatePrompt']['responses'];
    type Problem = Answers[409 | 422 | 'default']['content']['application/problem+json'];
    export function decide(problem: Answers[409]['content']['application/problem+json']): void {
      switch (problem.type) { case '': return; }
    }
    export const explain = ({ title, detail, request_id }: Problem): string[] => [title, detail, request_id];`;
  const namesAt = (text: string): string[] => {
    const at = client('ours').indexOf(text) + text.length;
    return (service.getCompletionsAtPosition('uses-ours.ts', at, {})?.entries ?? []).map(({ name }) => name).sort();
  };
  let service: ts.LanguageService;

  beforeAll(async () => {
    const files = new Map([
      ['uses-ours.ts', client('ours')],
      ['uses-theirs.ts', client('theirs')],
      ['ours.ts', await readFile('clients/typescript/src/generated/types.ts', 'utf8')],
      ['theirs.ts', astToString(await openapiTs(structuredClone(contract) as never))],
    ]);
    const read = (name: string): string | undefined => files.get(name) ?? ts.sys.readFile(name);
    service = ts.createLanguageService({
      getScriptFileNames: () => ['uses-ours.ts', 'uses-theirs.ts'],
      getScriptVersion: () => '1',
      getScriptSnapshot: (name) => ts.ScriptSnapshot.fromString(read(name) ?? ''),
      getCurrentDirectory: () => '',
      getCompilationSettings: () => ({
        strict: true,
        noEmit: true,
        allowImportingTsExtensions: true,
        types: [],
        lib: ['lib.es5.d.ts'],
      }),
      getDefaultLibFileName: ts.getDefaultLibFilePath,
      fileExists: (name) => read(name) !== undefined,
      readFile: read,
    });
  });

  it.each([
    ['the client', 'uses-ours.ts'],
    ['openapi-typescript', 'uses-theirs.ts'],
  ])('of %s let a program handle the later value', (_types, file) => {
    const errors = service.getSemanticDiagnostics(file);
    expect(errors.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))).toEqual([]);
  });

  it('of the client let an editor complete the known values', () => {
    expect(namesAt("switch (status) { case '")).toEqual([
      'delivered',
      'expired',
      'failed',
      'held',
      'pending',
      'retrying',
    ]);
  });

  it('of the client let an editor complete the problems of one status of one operation', () => {
    expect(namesAt("switch (problem.type) { case '")).toEqual([
      'urn:prompt-gateway:problem:alias-taken',
      'urn:prompt-gateway:problem:edit-conflict',
      'urn:prompt-gateway:problem:slug-taken',
    ]);
  });
});
