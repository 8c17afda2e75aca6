import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { WireAnswer } from '../support/contract-check.ts';
import {
  canonical,
  createGeneratedRun,
  findUnlike,
  writeOf,
  type GeneratedRun,
  type Json,
} from '../support/generated-run.ts';
import type { Call } from '../support/generated-traffic.ts';
import { findStrangeDocuments } from '../support/raw-documents.ts';
import { isOrdersPath } from '../support/request-arbitraries.ts';
import { isNightly, runSettings } from '../support/run-settings.ts';
import { startTestService, type TestService } from '../support/service.ts';

/** Sends generated requests for the prompt gateway over HTTP to the real service on a real database. */
const { seed, numRuns } = runSettings(10_000);
const slugs = ['alpha', 'beta', 'gamma', 'delta'];
const freeSlugs = Array.from({ length: 50 }, (_, index) => `free-${index}`);

let service: TestService;
let run: GeneratedRun;
/** The answers to writes, as canonical JSON by entity tag. */
const written = new Map<string, string>();

beforeAll(async () => {
  service = await startTestService();
  const callers = { reader: 'prompts:read', invoker: 'prompts:invoke' } as const;
  run = await createGeneratedRun({ service, callers, seed, examine });
  const hints = await makeSomething();
  await run.sendGenerated({ slipOneIn: 30, hints, hintWeight: 3, isWanted: (path) => !isOrdersPath(path) }, numRuns);
}, 300_000);
afterAll(async () => {
  await run.close();
  await service.close();
});

/** Prompts and test runs for the requests to use. The generators know their names. */
async function makeSomething(): Promise<Record<string, unknown[]>> {
  await makePrompts();
  const runs: unknown[] = [];
  for (const slug of slugs) {
    runs.push((await run.send('POST', `/api/v1/prompts/${slug}/test`, { providers: [{ provider: 'echo' }] }))['id']);
  }
  const key = await run.send('POST', '/api/v1/api-keys', { name: 'x', scopes: ['prompts:read'] });
  return {
    slugOrId: slugs,
    slug: [...slugs, ...freeSlugs],
    id: [...runs, key['id']],
    version: [1, 2, 3],
    provider: ['echo', 'openai'],
    selected_provider: ['echo'],
    model: ['echo-1'],
    selected_model: ['echo-upper'],
    'Idempotency-Key': ['once', '"once"', 'twice'],
    'If-Match': ['*'],
    Prefer: ['respond-async'],
    limit: [3],
    label: ['production', 'staging'],
    // Almost all others are refused: their members have to fit together.
    ContentPartInput: [
      { type: 'text', text: 'Hi {{name|you}}' },
      { type: 'image', url: 'https://images.example.com/{{name|a}}.png' },
    ],
    fallbacks: [[{ provider: 'echo' }], null],
    tools: [[{ name: 'lookup', parameters: { type: 'object' } }], null],
    tool_choice: ['auto', 'none'],
    response_format: [{ type: 'text' }, { type: 'json', schema: { type: 'object' } }, null],
    provider_options: [{ openai: { user: 'someone' } }, null],
    'Cache-Control': ['max-age=60', 'no-store', 'only-if-cached'],
  };
}

/** Creates the known prompts that do not exist. */
async function makePrompts(): Promise<void> {
  for (const slug of slugs) {
    const messages = [{ role: 'user', content: 'Hi {{name|you}}' }];
    await run.send('POST', '/api/v1/prompts', { name: slug, slug, messages, selected_provider: 'echo' });
  }
}

/** The answer to an import does not have the prompts: they are as they are read then. */
async function recordImported({ text }: WireAnswer): Promise<void> {
  const { results } = JSON.parse(text) as { results: readonly { readonly id?: string }[] };
  for (const { id } of results) {
    if (id === undefined) continue;
    const read = await run.read(`/api/v1/prompts/${id}`);
    written.set(withoutMoves(read.headers['etag'] ?? ''), savedIn(JSON.parse(read.text) as Json));
  }
}

/** Records the answers to writes, and compares them with the requests. */
async function examine(call: Call, answer: WireAnswer): Promise<string[]> {
  // The other requests need existing prompts.
  if (call.request.method === 'DELETE' && answer.status === 200) await makePrompts();
  if (call.request.operationId === 'importPrompts' && answer.status === 200) await recordImported(answer);
  const write = writeOf(['createPrompt', 'updatePrompt', 'restorePromptVersion'], call, answer);
  if (write === undefined) return [];
  written.set(withoutMoves(write.etag), savedIn(write.answer));
  if (write.operationId === 'restorePromptVersion' || write.isReplayed) return [];
  // The note is of the version.
  return findUnlike(write, ['id', 'version', 'labels', 'created_at', 'updated_at', 'warnings', 'note']);
}

/** An entity tag of a prompt without the part that counts moves of labels. */
function withoutMoves(etag: string): string {
  return etag.replace(/^("[^.]+\.\d+)\.\d+"$/, '$1"');
}

/** What writes of a prompt save. Labels have writes of their own. */
function savedIn({ warnings: _, labels: _labels, ...saved }: Json): string {
  return canonical(saved);
}

describe('after generated requests', () => {
  it('no answer was a 5xx or outside the contract', () => {
    expect(run.faults.slice(0, 10)).toEqual([]);
  });

  it('answers of all kinds occurred', () => {
    const usual = [200, 201, 400, 401, 403, 404, 409, 412, 422];
    expect([...run.statuses.keys()]).toEqual(
      expect.arrayContaining(isNightly ? [...usual, 204, 405, 413, 415, 502] : usual),
    );
  });

  it('every prompt equals the answer to its last write', async () => {
    const prompts = await run.readAll('/api/v1/prompts');
    expect(prompts.length).toBeGreaterThan(numRuns / 200);
    const differing: string[] = [];
    for (const { id } of prompts) {
      const { headers, text } = await run.read(`/api/v1/prompts/${String(id)}`);
      if (written.get(withoutMoves(headers['etag'] ?? '')) !== savedIn(JSON.parse(text) as Json)) differing.push(text);
    }
    expect(differing).toEqual([]);
  });

  it('every version equals the answer to a write', async () => {
    const contents = new Set([...written.values()].map((text) => contentOf(JSON.parse(text) as Json)));
    for (const { id, version } of await run.readAll('/api/v1/prompts')) {
      if (version === 1) continue;
      const versions = await run.readAll(`/api/v1/prompts/${String(id)}/versions`);
      expect(versions.map((entry) => entry['version'])).toEqual(
        Array.from({ length: Number(version) }, (_, index) => Number(version) - index),
      );
      expect(versions.filter((entry) => !contents.has(contentOf({ ...entry, id })))).toEqual([]);
    }
  });

  it('every test run and API key can be read', async () => {
    for (const { id } of await run.readAll('/api/v1/prompts')) {
      for (const testRun of await run.readAll(`/api/v1/prompts/${String(id)}/test-runs`)) {
        await run.read(`/api/v1/test-runs/${String(testRun['id'])}/results`);
      }
    }
    expect((await run.readAll('/api/v1/api-keys')).length).toBeGreaterThan(10);
  });

  it('the database contains nothing unexpected', async () => {
    expect(await findStrangeDocuments(service)).toEqual([]);
  });

  it('no prototype was changed', () => {
    expect(Object.keys(Object.prototype)).toEqual([]);
    expect(({} as Json)['polluted']).toBeUndefined();
  });
});

/** The part of a prompt that a version keeps. */
function contentOf(prompt: Json): string {
  const { id, version, messages, variables, strict, selected_provider, selected_model } = prompt;
  const { parameters, response_format, tools, tool_choice, provider_options, fallbacks, retries } = prompt;
  return canonical({
    id,
    version,
    messages,
    variables,
    strict,
    selected_provider,
    selected_model,
    parameters,
    response_format,
    tools,
    tool_choice,
    provider_options,
    fallbacks,
    retries,
  });
}
