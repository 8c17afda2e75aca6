import { describe, expect, it } from '@jest/globals';
import { create, saying } from '../prompts-harness.ts';
import { startAnother } from '../../support/per-operation.ts';
import type { Answer } from '../../support/service.ts';
import {
  createPrompt,
  ended,
  onEcho,
  onMock,
  problemOf,
  resultsPath,
  runPath,
  createTestRun,
  setUpTestRuns,
  startRun,
  testPath,
} from './test-runs-harness.ts';
import { until } from '../../support/until.ts';

const harness = setUpTestRuns();
const missing = '00000000-0000-4000-8000-000000000000';
const hello = (model: string): object => ({
  status: 'succeeded',
  provider: 'mock',
  model,
  latency_ms: expect.any(Number),
  invocation_id: expect.any(String),
  result: {
    text: `Hello from ${model}.`,
    finishReason: 'stop',
    usage: { inputTokens: 11, outputTokens: 7 },
    cost: null,
  },
});

describe('201', () => {
  it('compares versions, which stand in the run, its results and their records', async () => {
    const { id, slug } = await create(harness.service, saying('Hello {{name}}'));
    await harness.service.call('PUT', `/api/v1/prompts/${slug}`, { body: saying('Bye {{name}}, {{title|Dr.}}') });
    await harness.service.call('PUT', `/api/v1/prompts/${slug}`, { body: { ...saying('Third'), strict: true } });
    await harness.service.call('PUT', `/api/v1/prompts/${slug}/labels/production`, { body: { version: 2 } });
    const { status, body } = await createTestRun(harness.service, slug, {
      providers: [{ provider: 'echo' }, { provider: 'echo', version: 1 }, { provider: 'mock', version: 2 }],
      label: 'production',
      variables: { name: 'Ada', title: 'Prof.', other: 1 },
    });
    expect(status).toBe(201);
    const providers = [
      { provider: 'echo', model: 'echo-1' },
      { provider: 'echo', model: 'echo-1', version: 1 },
      { provider: 'mock', model: 'model-a', version: 2 },
    ];
    expect(body).toMatchObject({ prompt_id: id, prompt_version: 2, providers });
    // A variable of one version is none that is unknown.
    expect(body.warnings).toMatchObject([{ pointer: '#/variables/other' }]);
    expect(body.results).toMatchObject([
      { result: { text: 'Bye Ada, Prof.' } },
      { version: 1, result: { text: 'Hello Ada' } },
      { version: 2, result: { text: 'Hello from model-a.' } },
    ]);
    expect(body.results[0]).not.toHaveProperty('version');
    expect((await harness.service.call('GET', runPath(body.id))).body.providers).toEqual(providers);
    const stored = await harness.service.call('GET', resultsPath(body.id));
    expect(stored.body.results).toEqual(body.results);
    const records = await Promise.all(
      body.results.map(async (result: { invocation_id: string }) => {
        const { body: record } = await harness.service.call('GET', `/api/v1/invocations/${result.invocation_id}`);
        return [record.prompt_version, record.label];
      }),
    );
    expect(records).toEqual([
      [2, 'production'],
      [1, undefined],
      [2, 'production'],
    ]);
  });

  it('does not need the variables of a version that does not run', async () => {
    const { slug } = await create(harness.service, saying('Hello'));
    await harness.service.call('PUT', `/api/v1/prompts/${slug}`, { body: saying('Bye {{name}}') });
    const { body } = await createTestRun(harness.service, slug, { providers: [{ provider: 'echo', version: 1 }] });
    expect(body).toMatchObject({ prompt_version: 2, results: [{ version: 1, result: { text: 'Hello' } }] });
    const unknown = await createTestRun(harness.service, slug, { providers: [{ provider: 'echo', version: 3 }] });
    expect([unknown.status, problemOf(unknown)]).toEqual([404, 'version-not-found']);
  });

  it('answers with the run and its results, in the order of the request', async () => {
    const { id: prompt, slug } = await create(harness.service, saying('Hello {{name}}'));
    const { status, headers, body } = await createTestRun(harness.service, slug, {
      providers: [{ provider: 'mock', model: 'model-b' }, { provider: 'echo' }, { provider: 'mock' }],
      variables: { name: 'Ada' },
    });
    expect(status).toBe(201);
    expect(headers['location']).toBe(runPath(body.id as string));
    expect(body).toEqual({
      id: expect.any(String),
      prompt_id: prompt,
      prompt_version: 1,
      status: 'done',
      providers: [
        { provider: 'mock', model: 'model-b' },
        { provider: 'echo', model: 'echo-1' },
        { provider: 'mock', model: 'model-a' },
      ],
      answered_count: 3,
      cost: null,
      created_at: expect.any(String),
      finished_at: expect.any(String),
      results: [
        hello('model-b'),
        {
          status: 'succeeded',
          provider: 'echo',
          model: 'echo-1',
          latency_ms: expect.any(Number),
          invocation_id: expect.any(String),
          result: {
            text: 'Hello Ada',
            finishReason: 'stop',
            usage: { inputTokens: 2, outputTokens: 2 },
            cost: { amount: '0', currency: 'USD' },
          },
        },
        hello('model-a'),
      ],
    });
    expect(harness.mock.requests.map((request) => request.body['messages'])).toEqual(
      Array(2).fill([{ role: 'user', content: 'Hello Ada' }]),
    );
    const stored = await harness.service.call('GET', resultsPath(body.id as string));
    expect(stored.body.results).toEqual(body.results);
  });

  it('warns of unknown variables, also when the run is read later', async () => {
    const prompt = await createPrompt(harness.service);
    const warnings = [
      {
        code: 'unknown-variable',
        detail: 'is not declared or used by the prompt',
        pointer: '#/variables/nmae',
      },
    ];
    const answer = await createTestRun(harness.service, prompt, { ...onEcho, variables: { nmae: 'Ada', name: 'Bob' } });
    expect([answer.status, answer.body.warnings]).toEqual([201, warnings]);
    expect((await harness.service.call('GET', runPath(answer.body.id as string))).body.warnings).toEqual(warnings);
    const clean = await createTestRun(harness.service, prompt, { ...onEcho, variables: { name: 'Bob' } });
    expect(clean.body).not.toHaveProperty('warnings');
  });

  it('makes all calls at the same time', async () => {
    const prompt = await createPrompt(harness.service);
    const { body } = await createTestRun(
      harness.service,
      prompt,
      onMock('mock-slow-600', 'mock-slow-601', 'mock-slow-602'),
    );
    expect(harness.mock.mostConcurrent).toBe(3);
    for (const { latency_ms } of body.results) expect(latency_ms).toBeGreaterThanOrEqual(595);
  });

  it('runs on 20 targets, and allows repeated targets', async () => {
    const prompt = await createPrompt(harness.service);
    const models = Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? 'mock-slow-1500' : `model-${index}`));
    const { status, body } = await createTestRun(harness.service, prompt, onMock(...models));
    expect(status).toBe(201);
    expect(body.results.map(({ model }: { model: string }) => model)).toEqual(models);
    expect(harness.mock.requests).toHaveLength(20);
    expect(harness.mock.mostConcurrent).toBeGreaterThanOrEqual(10);
  });

  it('does not affect other calls when one fails', async () => {
    const prompt = await createPrompt(harness.service);
    const { status, body } = await createTestRun(
      harness.service,
      prompt,
      onMock('model-a', 'mock-401', 'mock-slow-300', 'mock-reset'),
    );
    expect(status).toBe(201);
    expect(body).toMatchObject({ status: 'done', answered_count: 2 });
    expect(body.results).toEqual([
      hello('model-a'),
      {
        status: 'failed',
        provider: 'mock',
        model: 'mock-401',
        cost: { amount: '0', currency: 'USD' },
        latency_ms: expect.any(Number),
        invocation_id: expect.any(String),
        error: {
          type: 'urn:prompt-gateway:problem:provider-refused-credentials',
          title: 'Provider refused the credentials',
          detail: expect.any(String),
          provider_status: 401,
          retryable: false,
        },
      },
      hello('mock-slow-300'),
      expect.objectContaining({
        error: expect.objectContaining({ type: 'urn:prompt-gateway:problem:provider-failed', retryable: false }),
      }),
    ]);
    expect(JSON.stringify(body)).not.toContain('sk-not-secret-here');
  });

  it('is done even if every call fails', async () => {
    const prompt = await createPrompt(harness.service);
    const body = { providers: [...onMock('mock-400', 'mock-garbage').providers, { provider: 'echo', model: 'no' }] };
    const answer = await createTestRun(harness.service, prompt, body);
    expect(answer.status).toBe(201);
    expect(answer.body.status).toBe('done');
    const types = answer.body.results.map(({ error }: { error: { type: string } }) => error.type.split(':').at(-1));
    expect(types).toEqual(['provider-failed', 'provider-bad-answer', 'provider-failed']);
  });

  it('ends a call at the deadline', async () => {
    const service = await startAnother(harness.service, {
      OPENAI_COMPATIBLE_PROVIDERS: harness.service.environment['OPENAI_COMPATIBLE_PROVIDERS'] ?? '',
      INVOKE_TIMEOUT_MS: '700',
    });
    const prompt = await createPrompt(service);
    const began = performance.now();
    const { body } = await createTestRun(service, prompt, onMock('model-a', 'mock-hang'));
    // Both calls have the deadline of the run, and the second can begin later.
    expect(performance.now() - began).toBeGreaterThanOrEqual(690);
    await service.close();
    expect(body.results).toEqual([
      hello('model-a'),
      expect.objectContaining({
        error: expect.objectContaining({ type: 'urn:prompt-gateway:problem:provider-timeout', retryable: false }),
      }),
    ]);
    expect(body.results[1].latency_ms).toBeGreaterThan(0);
    expect(harness.mock.requests.find(({ model }) => model === 'mock-hang')?.aborted).toBe(true);
  });

  it('runs the requested version, and names it', async () => {
    const { id } = await create(harness.service, saying('one'));
    await harness.service.call('PUT', `/api/v1/prompts/${id}`, { body: saying('two') });
    const pinned = await createTestRun(harness.service, id, { ...onEcho, version: 1 });
    const latest = await createTestRun(harness.service, id, onEcho);
    expect([pinned.body.prompt_version, pinned.body.results[0].result.text]).toEqual([1, 'one']);
    expect([latest.body.prompt_version, latest.body.results[0].result.text]).toEqual([2, 'two']);
  });

  it.each(['', 'wait=10', 'handling=lenient', 'foo="respond-async"'])(
    'waits if the preference is %p',
    async (Prefer) => {
      const answer = await createTestRun(harness.service, await createPrompt(harness.service), onEcho, { Prefer });
      expect(answer.status).toBe(201);
      expect(answer.headers).not.toHaveProperty('preference-applied');
    },
  );

  it('continues when the caller closes the connection, and stores the results', async () => {
    const prompt = await createPrompt(harness.service);
    const leaving = new AbortController();
    const request = fetch(harness.service.url + testPath(prompt), {
      method: 'POST',
      body: JSON.stringify(onMock('mock-held')),
      headers: { authorization: `Bearer ${harness.service.adminKey}`, 'content-type': 'application/json' },
      signal: leaving.signal,
    });
    await until(
      () => harness.mock.requests.length,
      (count) => count === 1,
    );
    leaving.abort();
    await expect(request).rejects.toThrow();
    harness.mock.release();
    const { body } = await harness.service.call('GET', `/api/v1/prompts/${prompt}/test-runs`);
    expect((await ended(harness.service, body.data[0].id as string)).body.status).toBe('done');
    expect(harness.mock.requests[0]?.aborted).toBe(false);
  });
});

describe('a label', () => {
  it('names the version that runs', async () => {
    const { id } = await create(harness.service, saying('one'));
    await harness.service.call('PUT', `/api/v1/prompts/${id}`, { body: saying('two') });
    await harness.service.call('PUT', `/api/v1/prompts/${id}/labels/production`, { body: { version: 1 } });
    const { body } = await createTestRun(harness.service, id, { ...onEcho, label: 'production' });
    expect([body.prompt_version, body.results[0].result.text]).toEqual([1, 'one']);
  });

  it('that the prompt does not have runs nothing, and neither does a label beside a version', async () => {
    const { id } = await create(harness.service);
    const unknown = await createTestRun(harness.service, id, { ...onMock('model-a'), label: 'production' });
    expect([unknown.status, problemOf(unknown)]).toEqual([422, 'unknown-label']);
    await harness.service.call('PUT', `/api/v1/prompts/${id}/labels/production`, { body: { version: 1 } });
    const body = { ...onMock('model-a'), label: 'production', version: 1 };
    const both = await harness.service.call('POST', testPath(id), { body });
    expect([both.status, both.body.errors]).toEqual([
      400,
      [{ detail: 'cannot be combined with version', pointer: '#/label' }],
    ]);
    expect(harness.mock.requests).toHaveLength(0);
  });
});

describe('202', () => {
  it('answers at once, and the run can be followed until it is done', async () => {
    const prompt = await createPrompt(harness.service);
    const { status, headers, body } = await createTestRun(harness.service, prompt, onMock('mock-held', 'model-a'), {
      Prefer: 'wait=5; foo="a, b", Respond-Async',
    });
    expect(status).toBe(202);
    expect(headers).toMatchObject({ 'preference-applied': 'respond-async', location: runPath(body.id as string) });
    expect(body).toMatchObject({ prompt_id: prompt, status: 'running' });
    expect(body).not.toHaveProperty('finished_at');

    const running = await harness.service.call('GET', headers['location'] ?? '');
    expect(running.body.status).toBe('running');
    const early = await harness.service.call('GET', resultsPath(body.id as string));
    expect([early.status, problemOf(early), early.headers['retry-after']]).toEqual([409, 'test-run-running', '2']);
    const metrics = await harness.service.call('GET', '/metrics');
    expect(metrics.text).toMatch(/^test_runs_active 1$/m);
    harness.mock.release();

    const done = await ended(harness.service, body.id as string);
    expect(done.body.status).toBe('done');
    const results = await harness.service.call('GET', resultsPath(body.id as string));
    expect(results.body.results).toEqual([hello('mock-held'), hello('model-a')]);
    await until(
      () => harness.service.call('GET', '/metrics'),
      ({ text }) => /^test_runs_active 0$/m.test(text),
    );
  });

  it('runs many at the same time', async () => {
    const prompt = await createPrompt(harness.service);
    const ids = await Promise.all(
      Array.from({ length: 10 }, () => startRun(harness.service, prompt, onMock('mock-slow-500', 'model-a'))),
    );
    for (const id of ids) expect((await ended(harness.service, id)).body.status).toBe('done');
    expect(new Set(ids).size).toBe(10);
  });
});

describe('400', () => {
  it.each([
    ['no providers', {}, '#/providers'],
    ['an empty list', { providers: [] }, '#/providers'],
    ['21 providers', { providers: Array(21).fill({ provider: 'echo' }) }, '#/providers'],
    ['a target without provider', { providers: [{ model: 'echo-1' }] }, '#/providers/0/provider'],
    ['a model with a line break', { providers: [{ provider: 'echo', model: 'a\nb' }] }, '#/providers/0/model'],
    ['an operator as a provider', { providers: [{ provider: { $ne: '' } }] }, '#/providers/0/provider'],
    ['an unknown field', { ...onEcho, provider: 'echo' }, '#/provider'],
    ['an unknown field of a target', { providers: [{ provider: 'echo', weight: 1 }] }, '#/providers/0/weight'],
    ['version 0', { ...onEcho, version: 0 }, '#/version'],
    ['variables that are a list', { ...onEcho, variables: [] }, '#/variables'],
  ])('refuses %s', async (_what, body, pointer) => {
    const answer = await createTestRun(harness.service, await createPrompt(harness.service), body);
    expect([answer.status, problemOf(answer)]).toEqual([400, 'invalid-request']);
    expect(answer.body.errors.map((error: { pointer: string }) => error.pointer)).toContain(pointer);
  });

  it('refuses a body that is not JSON', async () => {
    const answer = await createTestRun(harness.service, await createPrompt(harness.service), '{"providers":');
    expect([answer.status, problemOf(answer)]).toEqual([400, 'malformed-body']);
  });
});

describe('404', () => {
  it('says that the prompt or the version does not exist', async () => {
    const prompt = await createPrompt(harness.service);
    const answers = await Promise.all([
      createTestRun(harness.service, missing, onMock('model-a')),
      createTestRun(harness.service, prompt, { ...onMock('model-a'), version: 2 }),
    ]);
    expect(answers.map((answer) => [answer.status, problemOf(answer)])).toEqual([
      [404, 'prompt-not-found'],
      [404, 'version-not-found'],
    ]);
    expect(harness.mock.requests).toHaveLength(0);
  });
});

describe('422, before any call', () => {
  const refused = async (
    prompt: string,
    body: unknown,
  ): Promise<{ problem: string; body: Record<string, unknown> }> => {
    const answer = await createTestRun(harness.service, prompt, body);
    expect(answer.status).toBe(422);
    expect(harness.mock.requests).toHaveLength(0);
    const { body: page } = await harness.service.call('GET', `/api/v1/prompts/${prompt}/test-runs`);
    expect(page.pagination.total).toBe(0);
    return { problem: problemOf(answer), body: answer.body as Record<string, unknown> };
  };

  it('names every provider that is unknown or not configured', async () => {
    const providers = ['mock', 'nobody', 'openai', 'constructor'].map((provider) => ({ provider }));
    const { problem, body } = await refused(await createPrompt(harness.service), { providers });
    expect(problem).toBe('unknown-provider');
    expect(body['errors']).toEqual([
      { detail: 'is not known', pointer: '#/providers/1/provider' },
      { detail: 'is not known', pointer: '#/providers/3/provider' },
      { detail: 'is not configured', pointer: '#/providers/2/provider' },
    ]);
  });

  it('refuses a provider without credentials', async () => {
    const providers = [{ provider: 'mock' }, { provider: 'anthropic', model: 'claude-sonnet-4-5' }];
    const { problem, body } = await refused(await createPrompt(harness.service), { providers });
    expect(problem).toBe('provider-not-configured');
    expect(body['errors']).toEqual([{ detail: 'is not configured', pointer: '#/providers/1/provider' }]);
  });

  it('names the missing variables', async () => {
    const prompt = await createPrompt(harness.service, saying('{{who}} and {{what}}'));
    const { problem, body } = await refused(prompt, { ...onMock('model-a'), variables: { who: null } });
    expect(problem).toBe('missing-variables');
    expect(body['variables']).toEqual(['who', 'what']);
  });

  it('refuses unknown variables if the prompt is strict', async () => {
    const prompt = await createPrompt(harness.service, { strict: true });
    const answer = await createTestRun(harness.service, prompt, { ...onMock('model-a'), variables: { nmae: 'Ada' } });
    expect([answer.status, problemOf(answer), answer.body.variables]).toEqual([422, 'unknown-variables', ['nmae']]);
    expect(harness.mock.requests).toHaveLength(0);
  });

  it('names every provider that cannot do what the prompt asks for', async () => {
    const { id } = await create(harness.service, { parameters: { top_k: 5 } });
    const providers = [{ provider: 'echo' }, { provider: 'mock' }];
    const { problem, body } = await refused(id, { providers });
    expect(problem).toBe('unsupported-by-provider');
    expect(body).toMatchObject({ provider: 'mock', errors: [{ pointer: '#/providers/1' }] });
    const ignored = await createTestRun(harness.service, id, { providers, unsupported: 'ignore' });
    expect(ignored.body.results).toMatchObject([{ status: 'succeeded' }, { status: 'succeeded' }]);
    expect(harness.mock.requests.map((request) => request.body)).toEqual([
      { model: 'model-a', messages: [{ role: 'user', content: 'Hello' }] },
    ]);
  });

  it('refuses an image at a private address', async () => {
    const content = [{ type: 'image', url: 'https://192.168.0.1/{{name|a}}.png' }];
    const { id } = await create(harness.service, { messages: [{ role: 'user', content }] });
    const { problem, body } = await refused(id, onMock('model-a'));
    expect([problem, body['errors']]).toMatchObject(['image-not-allowed', [{ pointer: '#/messages/0/content/0' }]]);
  });

  it('does not call the fallbacks of the prompt', async () => {
    const { id } = await create(harness.service, { fallbacks: [{ provider: 'echo' }] });
    const { body } = await createTestRun(harness.service, id, onMock('mock-garbage'));
    expect(body.results).toMatchObject([{ status: 'failed', provider: 'mock', model: 'mock-garbage' }]);
    expect(harness.mock.requests).toHaveLength(1);
  });

  it('refuses a prompt that becomes too large', async () => {
    const prompt = await createPrompt(harness.service, saying('{{a}}'.repeat(100)));
    const { problem } = await refused(prompt, { ...onMock('model-a'), variables: { a: 'x'.repeat(100_000) } });
    expect(problem).toBe('rendered-prompt-too-large');
  });
});

describe('500', () => {
  it('hides the cause, and calls no provider', async () => {
    const prompt = await createPrompt(harness.service);
    const prompts = harness.database.db.collection<{ _id: string }>('prompts');
    await prompts.updateOne({ _id: prompt }, { $unset: { messages: 1, content: 1 } });
    const answer = await createTestRun(harness.service, prompt, onMock('model-a'));
    expect([answer.status, problemOf(answer)]).toEqual([500, 'internal-error']);
    expect(harness.mock.requests).toHaveLength(0);
  });
});

describe('503', () => {
  it('refuses more runs than a process can hold, and more runs of one key than it leaves to others', async () => {
    const { OPENAI_COMPATIBLE_PROVIDERS = '' } = harness.service.environment;
    const settings = { OPENAI_COMPATIBLE_PROVIDERS, SHUTDOWN_TIMEOUT_MS: '0', REQUEST_MEMORY_MB: '16' };
    const service = await startAnother(harness.service, settings);
    try {
      const prompt = await createPrompt(service);
      const start = (key: string): Promise<Answer> =>
        service.call('POST', testPath(prompt), {
          key,
          body: onMock('mock-hang'),
          headers: { Prefer: 'respond-async' },
        });
      // A small run counts as 1 MiB.
      const crowd = async (key: string): Promise<unknown[]> => {
        const answers = await Promise.all(Array.from({ length: 10 }, () => start(key)));
        return answers.filter(({ status }) => status !== 202).map((answer) => [answer.status, problemOf(answer)]);
      };
      // Of 16, one key gets 8, the next one 4, and so on.
      for (const got of [8, 4, 2, 1]) {
        const key = await service.createKey('prompts:invoke');
        expect(await crowd(key)).toEqual(Array(10 - got).fill([429, 'too-much-in-progress']));
      }
      expect((await start(await service.createKey('prompts:invoke'))).status).toBe(202);
      const refused = await start(await service.createKey('prompts:invoke'));
      expect([refused.status, problemOf(refused), refused.headers['retry-after']]).toEqual([503, 'overloaded', '5']);
      // The answers are sent before the calls are made.
      await until(
        () => harness.mock.requests.length,
        (count) => count >= 16,
      );
      expect(harness.mock.requests).toHaveLength(16);
    } finally {
      await service.close();
    }
  });

  it('releases the memory of ended runs', async () => {
    const { OPENAI_COMPATIBLE_PROVIDERS = '' } = harness.service.environment;
    const service = await startAnother(harness.service, { OPENAI_COMPATIBLE_PROVIDERS, REQUEST_MEMORY_MB: '16' });
    const prompt = await createPrompt(service, { messages: [{ role: 'user', content: '{{text}}' }] });
    // Each run takes half of what its key can have.
    const body = { ...onEcho, providers: Array(20).fill(onEcho.providers[0]), variables: { text: 'x'.repeat(50_000) } };
    for (let each = 0; each < 5; each += 1) expect((await createTestRun(service, prompt, body)).status).toBe(201);
    const unknown = { providers: [{ provider: 'nobody' }] };
    for (let each = 0; each < 5; each += 1) expect((await createTestRun(service, prompt, unknown)).status).toBe(422);
    expect((await createTestRun(service, prompt, body)).status).toBe(201);
    await service.close();
  });
});
