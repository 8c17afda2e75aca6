import { describe, expect, it } from '@jest/globals';
import { create, promptBody, promptsPath, saying, type RawDocument } from './prompts-harness.ts';
import { startAnother, problem, setUp } from '../support/per-operation.ts';
import type { Answer } from '../support/service.ts';
import { LossyProxy } from '../support/lossy-proxy.ts';
import { testDatabaseUri } from '../support/database.ts';

const setup = setUp();
const post = (body: unknown, headers: Record<string, string> = {}): Promise<Answer> =>
  setup.service.call('POST', promptsPath, { body, headers });

describe('201', () => {
  it('stores the whole request as version 1', async () => {
    const sent = {
      name: 'Summarise support ticket',
      slug: 'summarise-support-ticket',
      description: 'Three sentences for the shift handover.',
      messages: [
        { role: 'system', content: 'You summarise in a {{tone}} tone.' },
        { role: 'user', content: '{{ticket}}' },
        { role: 'assistant', content: '' },
      ],
      variables: { ticket: { required: true }, tone: { default: 'friendly', description: 'Tone' }, unused: {} },
      strict: true,
      selected_provider: 'openai',
      selected_model: 'gpt-4.1-mini',
      test_settings: { temperature: 0.2, samples: ['a', null, [1]] },
    };
    const { status, body, headers } = await post(sent);
    expect(status).toBe(201);
    const { warnings, ...saved } = body;
    expect(warnings).toEqual([
      { code: 'unused-variable', detail: 'is not used by a placeholder', pointer: '#/variables/unused' },
    ]);
    expect(saved).toEqual({
      ...sent,
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      version: 1,
      created_at: body.updated_at,
      updated_at: expect.stringMatching(/Z$/),
    });
    expect(headers['location']).toBe(`${promptsPath}/${body.id}`);
    const stored = await setup.service.call('GET', headers['location'] ?? '');
    expect(stored.body).toEqual(saved);
    expect(stored.headers['etag']).toBe(headers['etag']);
  });

  it.each([
    ['{{name}', '{{name}'],
    ['Dear {name}},', '{name}}'],
    ['{{#if x}}yes{{/if}}', '{{#if x}}', '{{/if}}'],
    ['{{user name}}', '{{user name}}'],
    ['{{user.name()}}', '{{user.name()}}'],
    ['{{ name\n}}', '{{ name'],
    ['{{name|text', '{{name|text'],
    ['{{1st}} {{}} {{ größe }}', '{{1st}}', '{{}}', '{{ größe }}'],
    [`{{${'n'.repeat(65)}}}`, `{{${'n'.repeat(58)}`],
    ['{{{not one}}}', '{{not one}}'],
  ])('warns of what looks like a placeholder and is none: %s', async (content, ...found) => {
    const messages = [
      { role: 'system', content: 'x' },
      { role: 'user', content },
    ];
    const { status, body } = await post(promptBody({ messages }));
    expect(status).toBe(201);
    expect(body.messages).toEqual(messages);
    expect(body.warnings).toEqual(
      found.map((text) => ({
        code: 'not-a-placeholder',
        detail: `${JSON.stringify(text)} is not a placeholder; it is sent unchanged`,
        pointer: '#/messages/1/content',
      })),
    );
  });

  it.each([
    ['{{name}} {{ a.b-c }} {{tone|dry {tone}}} {{{name}}} \\{{name}}', {}],
    ['{"a": {"b": [1, {}]}, "c": "}}"} } {', {}],
    ['{{a}}{{b|}}', { a: {}, b: { default: '' } }],
  ])('warns of nothing in %j', async (content, variables) => {
    const { body } = await post(promptBody({ messages: [{ role: 'user', content }], variables }));
    expect(body.warnings).toBeUndefined();
  });

  it('gives at most a hundred warnings', async () => {
    const content = '{{no one}}'.repeat(50_000);
    expect((await post(promptBody({ messages: [{ role: 'user', content }] }))).body.warnings).toHaveLength(100);
  });

  it('treats strict: false like a missing value', async () => {
    expect((await post(promptBody({ strict: false }))).body).not.toHaveProperty('strict');
  });

  it('contains no fields that are not set', async () => {
    const { body } = await post({ name: 'Bare', messages: [{ role: 'user', content: 'x' }], test_settings: null });
    expect(Object.keys(body).sort()).toEqual(['created_at', 'id', 'messages', 'name', 'slug', 'updated_at', 'version']);
  });

  it.each([
    ['Triage Support Ticket!', 'triage-support-ticket'],
    ['  Ünïcödé & more  ', 'uenicoede-and-more'],
    ['OpenAI helper', 'open-ai-helper'],
    [`${'word '.repeat(39)}end`, `${'word-'.repeat(15)}word`],
    [`a-${'x'.repeat(150)}`, `a-${'x'.repeat(78)}`],
    ['6f1c0a52-3f0e-4b7e-9d5a-1c2b7f3e8a90', 'prompt-6f1c0a52-3f0e-4b7e-9d5a-1c2b7f3e8a90'],
    ['日本語', 'prompt'],
    ['{"$gt": ""}', 'gt'],
    ['constructor', 'constructor'],
  ])('makes a slug from the name %p', async (name, slug) => {
    const { body } = await post(promptBody({ name }));
    expect(body).toMatchObject({ name, slug });
  });

  it('numbers generated slugs, also if they become too long', async () => {
    for (const slug of ['same-name', 'same-name-2', 'same-name-3']) {
      expect((await post(promptBody({ name: 'Same name' }))).body.slug).toBe(slug);
    }
    const long = 'y'.repeat(80);
    expect((await post(promptBody({ name: long }))).body.slug).toBe(long);
    expect((await post(promptBody({ name: long }))).body.slug).toBe(`${long.slice(0, 78)}-2`);
  });

  it('finds a free slug among hundreds with a few look-ups', async () => {
    const count = 500;
    const { id } = await create(setup.service, { name: 'Crowd' });
    const prompts = setup.database.db.collection<RawDocument>('prompts');
    const template = await prompts.findOne({ _id: id });
    const others = Array.from({ length: count - 1 }, (_, index) => ({
      ...template,
      _id: `crowd ${index}`,
      slug: `crowd-${index + 2}`,
    }));
    await prompts.insertMany(others);
    const proxy = await LossyProxy.start(testDatabaseUri());
    const service = await startAnother(setup.service, { MONGODB_URI: proxy.uri });
    proxy.forget();
    const { body } = await service.call('POST', promptsPath, { body: promptBody({ name: 'Crowd' }) });
    const commands = proxy.seen.filter(({ collection }) => collection === 'prompts').length;
    await service.close();
    await proxy.stop();
    await prompts.deleteMany({ _id: { $in: others.map(({ _id }) => _id) } });
    expect(body.slug).toBe(`crowd-${count + 1}`);
    expect(commands).toBeLessThanOrEqual(10);
  });

  it('gives each of several simultaneous prompts with the same name its own slug', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => post(promptBody({ name: 'Rush' }))));
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(201));
    expect(new Set(answers.map(({ body }) => body.slug))).toEqual(
      new Set(['rush', ...Array.from({ length: 19 }, (_, index) => `rush-${index + 2}`)]),
    );
  });

  it('keeps names and values that are special in databases or JavaScript', async () => {
    const odd = ['__proto__', 'constructor', 'a.b', 'toString', '_id', 'hasOwnProperty'];
    const variables = `{${odd.map((name) => `${JSON.stringify(name)}: {"default": "$where"}`).join(', ')}}`;
    const settings = `{"$where": "1", "a.b": {"$gt": ""}, "__proto__": {"x": [{"$set": 1}]}, "": null, "a\\u0000": 1.5e-7}`;
    const name = JSON.stringify('{"$ne": null} \0 $name');
    const { body } = await post(
      `{"name": ${name}, "description": "$description", "messages": [{"role": "user", "content": "$messages \\u0000 {{a.b}}"}],
        "variables": ${variables}, "selected_model": "$$ROOT", "test_settings": ${settings}}`,
    );
    const { text } = await setup.service.call('GET', `${promptsPath}/${body.id}`);
    const stored = JSON.parse(text) as Record<string, object>;
    expect(Object.keys(stored['variables'] ?? {})).toEqual(odd);
    expect(JSON.stringify(stored['variables'])).toBe(JSON.stringify(JSON.parse(variables)));
    expect(JSON.stringify(stored['test_settings'])).toBe(JSON.stringify(JSON.parse(settings)));
    expect(stored).toMatchObject({ name: JSON.parse(name), description: '$description', selected_model: '$$ROOT' });
    expect(Object.getPrototypeOf({})).not.toHaveProperty('x');
  });

  it('replays the answer to a repeated Idempotency-Key', async () => {
    const body = promptBody();
    const headers = { 'Idempotency-Key': 'create-replay' };
    const first = await post(body, headers);
    const second = await post(body, headers);
    expect(second).toMatchObject({ status: 201, body: first.body });
    expect(second.headers['idempotency-replayed']).toBe('true');
  });

  it.each([undefined, 'chosen-before-the-crash'])(
    'recognises its own prompt when an earlier attempt crashed after storing it (slug %p)',
    async (slug) => {
      const body = promptBody(slug === undefined ? { name: 'Crash' } : { slug });
      const headers = { 'Idempotency-Key': `create-crash-${slug ?? ''}` };
      const first = await post(body, headers);
      await forgetAnswerOf(first.body.id as string);
      const second = await post(body, headers);
      expect(second).toMatchObject({ status: 201, body: first.body });
      const { body: found } = await setup.service.call('GET', `${promptsPath}?q=${first.body.slug}`);
      expect(found.pagination.total).toBe(1);
    },
  );
});

/** Restores the state after a crash between storing the prompt and storing the answer. */
async function forgetAnswerOf(resourceId: string): Promise<void> {
  await idempotencyKeys().updateOne({ resource_id: resourceId }, { $unset: { answer: '' }, $set: { given_up: true } });
}

function idempotencyKeys(): ReturnType<typeof setup.database.db.collection<RawDocument>> {
  return setup.database.db.collection<RawDocument>('idempotency_keys');
}

describe('400', () => {
  const message = { role: 'user', content: 'x' };
  it.each([
    ['#/name', { messages: [message] }],
    ['#/name', { name: ' ', messages: [message] }],
    ['#/name', { name: { $gt: '' }, messages: [message] }],
    ['#/name', { name: 'x'.repeat(201), messages: [message] }],
    ['#/messages', { name: 'x' }],
    ['#/messages', { name: 'x', messages: [] }],
    ['#/messages/0/role', { name: 'x', messages: [{ role: 'tool', content: '' }] }],
    ['#/messages/0/content', { name: 'x', messages: [{ role: 'user' }] }],
    ['#/messages/0/name', { name: 'x', messages: [{ ...message, name: 'x' }] }],
    ['#/slug', promptBody({ slug: 'Not-a-slug' })],
    ['#/slug', promptBody({ slug: 'x'.repeat(81) })],
    ['#/slug', promptBody({ slug: '6f1c0a52-3f0e-4b7e-9d5a-1c2b7f3e8a90' })],
    ['#/slug', promptBody({ slug: null })],
    ['#/variables/1x', promptBody({ variables: { '1x': {} } })],
    ['#/variables/x/default', promptBody({ variables: { x: { default: 1 } } })],
    ['#/selected_provider', promptBody({ selected_provider: 'with blank' })],
    ['#/version', promptBody({ version: 1 })],
    ['#/$where', promptBody({ $where: '1' })],
  ])('points at %s', async (pointer, body) => {
    const answer = await post(body);
    expect(answer.status).toBe(400);
    expect(answer.body.errors).toContainEqual(expect.objectContaining({ pointer }));
  });

  it.each([['{"name": "x"'], ['nonsense']])('refuses %p as malformed', async (body) => {
    const answer = await post(body);
    expect(answer).toMatchObject({ status: 400, body: { type: problem('malformed-body') } });
  });

  it('accepts test settings of 16 KiB, and refuses one byte more', async () => {
    // The two quotes are part of the size.
    const fits = await post(promptBody({ test_settings: 'é'.repeat(8 * 1024 - 1) }));
    expect(fits.status).toBe(201);
    const options = {
      body: promptBody({ test_settings: `${'é'.repeat(8 * 1024 - 1)}x` }),
      differs: 'test-settings-size',
    };
    const tooLarge = await setup.service.call('POST', promptsPath, options);
    expect(tooLarge.status).toBe(400);
    expect(tooLarge.body.errors[0].pointer).toBe('#/test_settings');
  });

  it('refuses numbers that it could not return exactly', async () => {
    const body = JSON.stringify(promptBody({ test_settings: 'NUMBER' })).replace('"NUMBER"', '[{"n": -1e999}]');
    const answer = await setup.service.call('POST', promptsPath, { body });
    expect([answer.status, answer.body.type]).toEqual([400, 'urn:prompt-gateway:problem:malformed-body']);
    expect(answer.body.errors[0].pointer).toBe('#/test_settings/0/n');
  });
});

describe('409', () => {
  it('refuses a chosen slug that is taken', async () => {
    const { slug } = await create(setup.service);
    const { status, body } = await post(promptBody({ slug }));
    expect(status).toBe(409);
    expect(body).toMatchObject({
      type: problem('slug-taken'),
      detail: `Another prompt has the slug "${slug}".`,
      errors: [{ detail: 'is taken', pointer: '#/slug' }],
    });
  });

  it.each(['export', 'import'])(
    'refuses the slug %s, which is an operation, and makes another of the name',
    async (slug) => {
      expect(await post(promptBody({ slug }))).toMatchObject({ status: 409, body: { type: problem('slug-taken') } });
      const { id, slug: made } = await create(setup.service, { name: slug });
      expect(made).toMatch(new RegExp(`^prompt-${slug}`));
      const renamed = await setup.service.call('PUT', `${promptsPath}/${id}`, { body: { slug } });
      expect(renamed).toMatchObject({ status: 409, body: { type: problem('slug-taken') } });
    },
  );

  it('gives a slug to one of many simultaneous requests', async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => post(promptBody({ slug: 'contested' }))));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...(Array(9).fill(409) as number[])]);
  });

  it('refuses an Idempotency-Key whose first request is still running', async () => {
    const body = promptBody();
    const headers = { 'Idempotency-Key': 'create-running' };
    const first = await post(body, headers);
    // These writes imitate another process that is alive and works on the request.
    const ofFirst = { resource_id: first.body.id };
    await idempotencyKeys().updateOne(ofFirst, { $unset: { answer: '' } });
    const beat = async (): Promise<unknown> => idempotencyKeys().updateOne(ofFirst, { $inc: { beat: 1 } as never });
    const beating = setInterval(() => void beat(), 20);
    const second = await post(body, headers);
    clearInterval(beating);
    expect(second).toMatchObject({ status: 409, body: { type: problem('idempotency-key-in-use') } });
    expect(Number(second.headers['retry-after'])).toBeGreaterThan(0);
  });
});

describe('422', () => {
  it('refuses an unknown provider, and stores nothing', async () => {
    const { status, body } = await post(promptBody({ slug: 'no-such-provider', selected_provider: 'opnai' }));
    expect(status).toBe(422);
    expect(body).toMatchObject({
      type: problem('unknown-provider'),
      errors: [{ detail: 'is not known', pointer: '#/selected_provider' }],
      provider: 'opnai',
    });
    expect((await setup.service.call('GET', `${promptsPath}/no-such-provider`)).status).toBe(404);
  });

  it('refuses an Idempotency-Key that was used with another body', async () => {
    const headers = { 'Idempotency-Key': 'create-reused' };
    await post(promptBody(), headers);
    const { status, body } = await post(promptBody(saying('something else')), headers);
    expect(status).toBe(422);
    expect(body.type).toBe(problem('idempotency-key-reused'));
  });
});

describe('500', () => {
  it('hides the cause', async () => {
    const body = promptBody();
    const headers = { 'Idempotency-Key': 'create-fault' };
    const first = await post(body, headers);
    await idempotencyKeys().updateOne({ resource_id: first.body.id }, { $set: { 'answer.headers': 5 } });
    const second = await post(body, headers);
    expect(second.status).toBe(500);
    expect(second.body).toMatchObject({ type: problem('internal-error') });
    expect(second.text).not.toContain('iterable');
  });
});
