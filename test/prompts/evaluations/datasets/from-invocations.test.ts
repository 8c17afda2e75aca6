/** Cases that are made of invocations, and what is left of them when somebody asks to erase an invocation. */
import { randomBytes, randomUUID } from 'node:crypto';
import { readdir, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Scope } from '../../../../generated/operations.ts';
import { createInvocationId } from '../../../../src/accounting/invocations/invocation-id.ts';
import { createContentStore } from '../../../../src/accounting/invocations/content-store.ts';
import { createSecretBox } from '../../../../src/base/secrets/secret-box.ts';
import type { PagedDatabase } from '../../../../src/storage/db/pages.ts';
import { openDatabaseOf, problem, startAnother } from '../../../support/per-operation.ts';
import type { Answer, CallOptions } from '../../../support/service.ts';
import { startInvokeHarness, type InvokeHarness } from '../../invoke/invoke-harness.ts';
import { datasetsPath, setDataset } from './datasets-harness.ts';

let harness: InvokeHarness;
let database: PagedDatabase;
const secretsKey = randomBytes(32);
beforeAll(async () => {
  const environment = { INVOCATION_CONTENT: 'all', SECRETS_KEY: secretsKey.toString('hex') };
  harness = await startInvokeHarness({ environment });
  database = await openDatabaseOf(harness.service);
});
afterAll(async () => {
  await database.close();
  await harness.close();
});

const call = (method: string, path: string, options: CallOptions = {}): Promise<Answer> =>
  harness.service.call(method, path, options);
const set = (name: string, ...lines: string[]) => setDataset(harness.service, name, lines);
const add = (name: string, body: object, options: CallOptions = {}) =>
  call('POST', `${datasetsPath}/${name}/cases`, { body, ...options });
const casesOf = async (name: string, version: number): Promise<Answer['body']> =>
  (await call('GET', `${datasetsPath}/${name}/versions/${version}/cases?limit=100`)).body.data;
const exported = async (name: string, version: number): Promise<string> =>
  (await call('GET', `${datasetsPath}/${name}/versions/${version}/export`)).text;
const idOf = ({ headers }: Answer): string => headers['x-invocation-id'] ?? '';
const invoke = async (body: object = { variables: { name: 'Ada' } }, fields = {}): Promise<string> => {
  const answer = await harness.invoke(await harness.createPrompt(fields), body);
  expect([answer.status, answer.body.errors]).toEqual([200, undefined]);
  return idOf(answer);
};
/** An invocation of which this content is kept. */
const keeping = async (content: object): Promise<string> => {
  const id = await invoke({}, { invocation_content: 'off' });
  const contents = createContentStore(database, createSecretBox(secretsKey));
  await contents.insert([{ id, json: JSON.stringify(content) }]);
  return id;
};
const erase = (id: string, options: CallOptions = {}) => call('DELETE', `/api/v1/invocations/${id}/content`, options);
const auditOf = async (id: string): Promise<string[]> =>
  (await call('GET', `/api/v1/audit-log?resource_id=${id}`)).body.data.map(
    ({ operation }: { operation: string }) => operation,
  );
/** Where data sets are stored. */
const folder = (): string => join(harness.service.environment['DATA_DIR'] ?? '', 'files', 'datasets');
const stored = async (): Promise<string> => {
  const entries = await readdir(folder(), { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return (await Promise.all(files.map(({ parentPath, name }) => readFile(join(parentPath, name), 'utf8')))).join('');
};

describe('201', () => {
  it('makes a case of the values of variables, which has the id of its invocation, without the answer', async () => {
    await set('variables', '{"id":"first"}');
    const id = await invoke();
    const { status, body, headers } = await add('variables', { from_invocations: [id] });
    expect([status, body.version, body.cases]).toEqual([201, 2, 2]);
    expect(headers['location']).toBe(`${datasetsPath}/variables/versions/2/cases`);
    expect(await casesOf('variables', 2)).toEqual([
      { id: 'first' },
      { id, invocation_id: id, variables: { name: 'Ada' } },
    ]);
    expect(await auditOf(id)).toEqual(['addDatasetCases']);
  });

  it('makes a case of the messages of the caller, without those of the prompt', async () => {
    await set('messages', '{"id":"first"}');
    const tool = { id: 'call_0', name: 'get_time', arguments: '{}' };
    const messages = [
      { role: 'user', content: 'What time is it?' },
      { role: 'assistant', content: 'I look.', tool_calls: [tool] },
      { role: 'tool', tool_call_id: 'call_0', content: 'no clock', is_error: true },
      { role: 'user', content: '' },
    ];
    const parts = [
      { type: 'text', text: 'And here?' },
      { type: 'image', url: 'https://images.example.com/a.png' },
    ];
    const thinking = { type: 'thinking', text: 'A clock?' };
    const withParts = await keeping({
      messages: [
        { role: 'assistant', content: [thinking, { type: 'text', text: 'Yes.' }] },
        { role: 'user', content: parts },
      ],
      prompt_messages: 0,
    });
    const ofPrompt = await invoke({ messages }, { messages: [{ role: 'system', content: 'Be brief.' }] });
    const direct = { model: 'mock/model-a', messages: [{ role: 'user', content: 'Hi' }] };
    const ofNone = idOf(await call('POST', '/v1/chat/completions', { body: direct }));
    expect((await add('messages', { from_invocations: [ofPrompt, ofNone, withParts] })).body.cases).toBe(4);
    const [, case1, case2, case3] = await casesOf('messages', 2);
    expect(case1).toEqual({
      ...{ id: ofPrompt, invocation_id: ofPrompt },
      messages: [
        messages[0],
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'I look.' },
            { type: 'tool-call', ...tool },
          ],
        },
        ...messages.slice(2),
      ],
    });
    expect(case2).toEqual({
      ...{ id: ofNone, invocation_id: ofNone },
      messages: [{ role: 'user', content: 'Hi' }],
    });
    expect(case3.messages).toEqual([
      { role: 'assistant', content: 'Yes.' },
      { role: 'user', content: parts },
    ]);
    // They can be sent again as they are.
    const lines = (await exported('messages', 2)).trimEnd().split('\n');
    expect((await set('messages', ...lines)).body.version).toBe(2);
  });

  it('adds cases beside them; an invocation of a case that is there is not added again, also later', async () => {
    await set('beside', '{"id":"first"}');
    const [one, two] = [await invoke(), await invoke()];
    const cases = [{ id: 'own', invocation_id: two, variables: { name: 'Ada' }, expected: 'Hello' }];
    const { body } = await add('beside', { cases, from_invocations: [one, two] });
    expect(body).toMatchObject({ version: 2, cases: 3 });
    expect((await erase(one)).status).toBe(200);
    const again = await add('beside', { from_invocations: [one, two] });
    expect([again.status, again.body]).toEqual([200, body]);
  });

  it('is done by another process, whose answer is the same', async () => {
    await set('another', '{"id":"first"}');
    const id = await invoke();
    await add('another', { from_invocations: [id] });
    const other = await startAnother(harness.service, { SECRETS_KEY: secretsKey.toString('hex') });
    const path = `${datasetsPath}/another/versions/2/cases`;
    expect((await other.call('GET', path)).body.data[1]).toMatchObject({ variables: { name: 'Ada' } });
    await erase(id);
    expect((await other.call('GET', path)).body.data[1]).toEqual({ id, invocation_id: id, erased: true });
    await other.close();
  });
});

describe('422 names each invocation that no case can be made of, and adds nothing', () => {
  const refusal = async (from_invocations: string[]): Promise<unknown> => {
    await set('refusing', '{"id":"first"}');
    const { status, body } = await add('refusing', { cases: [{ id: 'other' }], from_invocations });
    expect([status, body.type]).toEqual([422, problem('dataset-refused')]);
    expect((await call('GET', `${datasetsPath}/refusing`)).body.version).toBe(1);
    return body.errors;
  };

  it('unknown, without content, erased', async () => {
    const good = await invoke();
    const erased = await invoke();
    await erase(erased);
    const unknown = createInvocationId(new Date(), randomUUID());
    const unkept = await invoke({}, { invocation_content: 'off' });
    expect(await refusal([good, unknown, unkept, erased])).toEqual([
      { pointer: '#/from_invocations/1', detail: 'has no record in the invocation log' },
      { pointer: '#/from_invocations/2', detail: 'has no content that is kept' },
      { pointer: '#/from_invocations/3', detail: 'has no content that is kept' },
    ]);
    expect(await auditOf(good)).toEqual([]);
  });

  it('too long, with the data of an image, of an earlier release', async () => {
    const long = await invoke({ variables: { name: 'A'.repeat(300_000) } });
    const url =
      'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
    const image = await invoke({ messages: [{ role: 'user', content: [{ type: 'image', url }] }] });
    const input = Array.from({ length: 1_001 }, () => ({ role: 'user', content: 'x' }));
    const many = idOf(await call('POST', '/v1/responses', { body: { model: 'mock/model-a', input } }));
    const old = await keeping({ messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello' }] }] });
    const errors = (await refusal([long, image, many, old])) as { detail: string }[];
    expect(errors.map(({ detail }) => detail)).toEqual([
      'has content that is too long, so only a part of it is kept',
      'has an image whose data is not kept',
      'has more than the 1000 messages of a case',
      'was recorded by an earlier release, which did not keep which messages are those of the caller',
    ]);
  });

  it('of more bytes than a case', async () => {
    const id = await invoke({ variables: { name: '€'.repeat(100_000) } });
    expect(await refusal([id])).toEqual([{ pointer: '#/from_invocations/0', detail: 'has more than 262144 bytes' }]);
  });

  it('of vectors', async () => {
    const id = idOf(await call('POST', '/v1/embeddings', { body: { model: 'echo/echo-embed', input: 'Hi' } }));
    await set('vectors', '{"variables":{}}');
    const { status, body } = await add('vectors', { from_invocations: [id] });
    expect([status, body.errors[0].detail]).toEqual([422, 'asked for vectors, and not for an answer']);
  });

  it('with the id of another case', async () => {
    const id = await invoke();
    await set('taken', JSON.stringify({ id }));
    const { status, body } = await add('taken', { from_invocations: [id] });
    expect([status, body.errors]).toEqual([
      422,
      [{ pointer: '#/from_invocations/0', detail: 'has the same id as another case of the data set' }],
    ]);
  });
});

it('403 without the scope of the content', async () => {
  await set('scoped', '{"id":"first"}');
  const from_invocations = [await invoke()];
  const keyWith = (...scopes: Scope[]) => harness.service.createKey(...scopes);
  const refused = await add('scoped', { from_invocations }, { key: await keyWith('datasets:write') });
  expect([refused.status, refused.body.type]).toEqual([403, problem('insufficient-scope')]);
  expect(refused.headers['www-authenticate']).toContain('scope="invocations:content"');
  const key = await keyWith('datasets:write', 'invocations:content');
  expect((await add('scoped', { from_invocations }, { key })).status).toBe(201);
});

it('400 without either', async () => {
  expect((await add('nothing', {})).status).toBe(400);
  expect((await add('nothing', { from_invocations: [] })).status).toBe(400);
});

it('500 if the content cannot be decrypted', async () => {
  await set('sealed', '{"id":"first"}');
  const body = { from_invocations: [await invoke()] };
  const other = await startAnother(harness.service, { SECRETS_KEY: randomBytes(32).toString('hex') });
  const answer = await other.call('POST', `${datasetsPath}/sealed/cases`, { body });
  expect([answer.status, answer.body.type]).toEqual([500, problem('secret-unreadable')]);
  await other.close();
});

describe('erasing the content of an invocation', () => {
  /** Data sets `<name>-1` and `<name>-2`, of which several versions have the case. */
  const spread = async (name: string): Promise<string> => {
    const id = await invoke({ variables: { name: `secret of ${name}` } });
    for (const one of [`${name}-1`, `${name}-2`]) {
      await set(one, '{"id":"first"}');
      await add(one, { from_invocations: [id] });
      await add(one, { cases: [{ id: 'last' }] });
    }
    return id;
  };
  const expectErased = async (name: string, id: string): Promise<void> => {
    const erased = { id, invocation_id: id, erased: true };
    for (const one of [`${name}-1`, `${name}-2`]) {
      expect(await casesOf(one, 2)).toEqual([{ id: 'first' }, erased]);
      expect(await casesOf(one, 3)).toEqual([{ id: 'first' }, erased, { id: 'last' }]);
      expect(await exported(one, 3)).toBe(`{"id":"first"}\n${JSON.stringify(erased)}\n{"id":"last"}\n`);
    }
  };

  it('erases its cases in all versions of all data sets, which stay with their digests', async () => {
    const id = await spread('all');
    expect(await exported('all-2', 3)).toContain('secret of all');
    const before = (await call('GET', `${datasetsPath}/all-1/versions`)).body;
    expect((await erase(id)).body).toEqual({ ok: true });
    await expectErased('all', id);
    expect((await call('GET', `${datasetsPath}/all-1/versions`)).body).toEqual(before);
  });

  it('leaves nothing that can be read in storage or database', async () => {
    const id = await spread('unreadable');
    expect(await stored()).toContain(id);
    expect(await stored()).not.toContain('secret of unreadable');
    await erase(id);
    const left = await database.db.collection<{ _id: string }>('case_keys').findOne({ _id: id });
    expect(Object.keys(left ?? {})).toEqual(['_id', 'erased_at']);
  });

  it('succeeds while the storage is away, because nothing there has to change', async () => {
    const id = await spread('outage');
    await rename(folder(), `${folder()}-away`);
    expect((await call('GET', `${datasetsPath}/outage-1/versions/2/cases`)).status).toBe(503);
    expect((await erase(id)).status).toBe(200);
    await rename(`${folder()}-away`, folder());
    await expectErased('outage', id);
  });

  it('goes on after a process died between the content and the cases', async () => {
    const id = await spread('killed');
    await createContentStore(database, createSecretBox(secretsKey)).erase(id, new Date());
    expect(await exported('killed-1', 2)).toContain('secret of killed');
    expect((await erase(id)).status).toBe(200);
    await expectErased('killed', id);
  });

  it('is possible when the log has forgotten the invocation, and its content', async () => {
    const id = await spread('forgotten');
    const day = new Date().toISOString().slice(0, 10).replaceAll('-', '');
    for (const name of [`invocations_${day}`, `invocation_contents_${day}`]) {
      await database.db.collection<{ _id: string }>(name).deleteOne({ _id: id });
    }
    expect(await exported('forgotten-1', 3)).toContain('secret of forgotten');
    const { body } = await call('GET', `/api/v1/prompts/${await harness.createPrompt()}`);
    const limited = await call('POST', '/api/v1/api-keys', {
      body: { name: 'Limited', scopes: ['invocations:content'], limits: { prompts: [body.id] } },
    });
    expect((await erase(id, { key: limited.body.key })).status).toBe(404);
    expect((await erase(id)).status).toBe(200);
    await expectErased('forgotten', id);
    expect(await auditOf(id)).toContain('deleteInvocationContent');
  });

  it('holds for files: what was exported before is refused, what is exported afterwards is not', async () => {
    const id = await spread('file');
    const before = (await exported('file-1', 3)).trimEnd().split('\n');
    await erase(id);
    const refused = await set('file-1', ...before);
    expect([refused.status, refused.body.errors]).toMatchObject([
      422,
      [{ line: 2, pointer: '#/invocation_id', detail: /^names an invocation whose content was erased\./ }].map(
        ({ detail, ...rest }) => ({ ...rest, detail: expect.stringMatching(detail) }),
      ),
    ]);
    const [added] = (await add('file-2', { cases: [{ id: 'x', invocation_id: id, expected: 'y' }] })).body.errors;
    expect(added.pointer).toBe('#/cases/0/invocation_id');
    const after = (await exported('file-1', 3)).trimEnd().split('\n');
    const { body } = await set('file-1', ...after);
    expect(body.version).toBe(4);
    expect((await set('file-1', ...after)).body.version).toBe(4);
  });
});

describe('a case with invocation_id', () => {
  it('that a caller sends is erased, too; equal contents are no new version', async () => {
    const id = await invoke();
    const line = JSON.stringify({ id: 'edited', invocation_id: id, variables: { name: 'Ada' }, expected: 'Hello' });
    const first = await set('sent', line);
    expect((await set('sent', line)).body).toEqual(first.body);
    expect(await exported('sent', 1)).toBe(`${line}\n`);
    expect((await set('sent', line.replace('Hello', 'Bye'))).body.version).toBe(2);
    expect(await exported('sent', 2)).toContain('Bye');
    await erase(id);
    expect(await casesOf('sent', 2)).toEqual([{ id: 'edited', invocation_id: id, erased: true }]);
    expect(await casesOf('sent', 1)).toEqual([{ id: 'edited', invocation_id: id, erased: true }]);
  });

  it('has the id of the invocation if it has no other', async () => {
    const id = await invoke();
    const line = JSON.stringify({ invocation_id: id, variables: { name: 'Ada' } });
    const twice = await set('nameless', line, line);
    expect(twice.body.errors[0].detail).toBe('has the same invocation_id as line 1');
    await set('nameless', line);
    expect(await casesOf('nameless', 1)).toEqual([{ id, invocation_id: id, variables: { name: 'Ada' } }]);
  });

  it('is stored in groups, and read from any place', async () => {
    const lines = Array.from({ length: 250 }, (_, index) =>
      JSON.stringify({ id: `${index}`, invocation_id: createInvocationId(new Date(), randomUUID()), expected: index }),
    );
    await set('groups', ...lines);
    expect(await exported('groups', 1)).toBe(lines.map((line) => `${line}\n`).join(''));
    const { body } = await call('GET', `${datasetsPath}/groups/versions/1/cases?offset=120&limit=3`);
    expect(body.data.map(({ expected }: { expected: number }) => expected)).toEqual([120, 121, 122]);
    const key = { key: expect.anything() };
    expect(await database.db.collection('case_keys').findOne({})).toMatchObject(key);
  });

  it('is erased only without content', async () => {
    const invocation_id = createInvocationId(new Date(), randomUUID());
    const { status, body } = await set('blank', JSON.stringify({ invocation_id, erased: true, expected: 'x' }));
    expect([status, body.errors[0].pointer]).toEqual([422, '#/expected']);
  });
});
