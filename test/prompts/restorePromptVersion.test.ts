import { describe, expect, it } from '@jest/globals';
import type { Answer } from '../support/service.ts';
import { create, createVersions, promptsPath, saying, type RawDocument } from './prompts-harness.ts';
import { problem, setUp } from '../support/per-operation.ts';

const setup = setUp();
const restore = (key: string, version: number | string, headers: Record<string, string> = {}): Promise<Answer> =>
  setup.service.call('POST', `${promptsPath}/${key}/versions/${version}/restore`, { headers });
const put = (key: string, body: unknown): Promise<Answer> =>
  setup.service.call('PUT', `${promptsPath}/${key}`, { body });
const get = (path: string): Promise<Answer> => setup.service.call('GET', `${promptsPath}/${path}`);

describe('200', () => {
  it('creates a new version with the old content, and does not change the other fields', async () => {
    const content = { ...saying('first {{x}}'), variables: { x: { required: true } }, selected_provider: 'echo' };
    const { id, body: created } = await create(setup.service, content);
    await put(id, {
      ...saying('second'),
      variables: null,
      selected_provider: null,
      selected_model: 'm',
      name: 'Renamed',
    });
    const { status, body, headers } = await restore(created.slug, 1);
    expect(status).toBe(200);
    expect(body).toEqual({ ...created, name: 'Renamed', version: 3, updated_at: body.updated_at });
    const now = await get(id);
    expect(now.body).toEqual(body);
    expect(now.headers['etag']).toBe(headers['etag']);
    expect((await get(`${id}/versions/2`)).body).toMatchObject({ selected_model: 'm', current: false });
    expect((await get(`${id}/versions/3`)).body).toMatchObject({ ...content, created_at: body.updated_at });
  });

  it('gives the warnings of the restored content', async () => {
    const { id, body: created } = await create(setup.service, saying('{{user name}}'));
    expect(created.warnings).toHaveLength(1);
    await put(id, saying('{{user}}'));
    expect((await restore(id, 1)).body.warnings).toEqual(created.warnings);
  });

  it.each(['the current one', 'one of the same content'])('creates no version for %s', async (which) => {
    const { id } = await create(setup.service, saying('same'));
    await put(id, saying('other'));
    const before = await put(id, saying('same'));
    const { body, headers } = await restore(id, which === 'the current one' ? 3 : 1);
    expect(body).toEqual(before.body);
    expect(headers['etag']).toBe(before.headers['etag']);
  });

  it('restores if If-Match matches', async () => {
    const { id } = await createVersions(setup.service, 2);
    const etag = (await get(id)).headers['etag'] ?? '';
    expect((await restore(id, 1, { 'If-Match': etag })).body.version).toBe(3);
  });

  it('replays the answer to a repeated Idempotency-Key', async () => {
    const { id } = await createVersions(setup.service, 2);
    const headers = { 'Idempotency-Key': 'restore-replay' };
    const first = await restore(id, 1, headers);
    await put(id, saying('later'));
    const second = await restore(id, 1, headers);
    expect(second).toMatchObject({ status: 200, body: first.body });
    expect(second.headers['idempotency-replayed']).toBe('true');
    expect((await get(id)).body.version).toBe(4);
  });

  it('does not restore again when an earlier attempt crashed after storing it', async () => {
    const { id } = await createVersions(setup.service, 2);
    const etag = (await get(id)).headers['etag'] ?? '';
    const headers = { 'Idempotency-Key': 'restore-crash', 'If-Match': etag };
    await restore(id, 1, headers);
    const later = await put(id, saying('later'));
    await idempotencyKeys().updateMany({}, { $unset: { answer: '' }, $set: { given_up: true } });
    expect(await restore(id, 1, headers)).toMatchObject({ status: 200, body: later.body });
  });

  it('creates at most one version for each of many simultaneous requests', async () => {
    const { id } = await createVersions(setup.service, 3);
    const answers = await Promise.all([1, 2, 1, 2, 1, 2].map((version) => restore(id, version)));
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    const { body } = await get(`${id}/versions`);
    const contents = body.data.map((version: { messages: { content: string }[] }) => version.messages[0]?.content);
    expect(contents.length).toBe((await get(id)).body.version);
    // Each version differs from the one before.
    for (let index = 1; index < contents.length; index += 1) expect(contents[index]).not.toBe(contents[index - 1]);
  });
});

function idempotencyKeys(): ReturnType<typeof setup.database.db.collection<RawDocument>> {
  return setup.database.db.collection<RawDocument>('idempotency_keys');
}

describe('400', () => {
  it.each(['0', '-1', 'latest', '2147483648'])('refuses the version %s', async (version) => {
    const { id } = await create(setup.service);
    const { status, body } = await restore(id, version);
    expect(status).toBe(400);
    expect(body.errors).toMatchObject([{ parameter: 'version' }]);
  });
});

describe('404', () => {
  it('says that the version does not exist', async () => {
    const { id } = await create(setup.service);
    const { status, body } = await restore(id, 2);
    expect(status).toBe(404);
    expect(body.type).toBe(problem('version-not-found'));
  });

  it('says that the prompt does not exist', async () => {
    const { status, body } = await restore('no-such-prompt', 1);
    expect(status).toBe(404);
    expect(body.type).toBe(problem('prompt-not-found'));
  });
});

describe('409', () => {
  it('refuses an Idempotency-Key whose first request still runs', async () => {
    const { id } = await createVersions(setup.service, 2);
    const headers = { 'Idempotency-Key': 'restore-running' };
    await restore(id, 1, headers);
    // These writes imitate another process that is alive and works on the request.
    await idempotencyKeys().updateMany({}, { $unset: { answer: '' } });
    const beat = async (): Promise<unknown> => idempotencyKeys().updateMany({}, { $inc: { beat: 1 } as never });
    let beats: Promise<unknown> = Promise.resolve();
    const beating = setInterval(() => {
      beats = beats.then(beat);
    }, 20);
    const { status, body } = await restore(id, 1, headers);
    clearInterval(beating);
    await beats;
    expect(status).toBe(409);
    expect(body.type).toBe(problem('idempotency-key-in-use'));
  });
});

describe('412', () => {
  it('does not change a prompt that has changed', async () => {
    const { id } = await createVersions(setup.service, 2);
    const etag = (await get(id)).headers['etag'] ?? '';
    await put(id, { description: 'changed' });
    const { status, body } = await restore(id, 1, { 'If-Match': etag });
    expect(status).toBe(412);
    expect(body.type).toBe(problem('precondition-failed'));
    expect((await get(id)).body.version).toBe(2);
  });
});

describe('500', () => {
  it('hides the cause', async () => {
    const { id } = await createVersions(setup.service, 2);
    const versions = setup.database.db.collection<RawDocument>('prompt_versions');
    await versions.updateOne({ _id: `${id}:1` }, { $unset: { messages: '' } });
    const { status, body } = await restore(id, 1);
    expect(status).toBe(500);
    expect(body.type).toBe(problem('internal-error'));
  });
});
