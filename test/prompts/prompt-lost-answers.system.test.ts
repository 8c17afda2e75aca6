import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { testDatabaseUri } from '../support/database.ts';
import { LossyProxy, writeLosses } from '../support/lossy-proxy.ts';
import type { Answer, TestService } from '../support/service.ts';
import { historyOf, labelPath, moveThrough, setLabel } from './labels/labels-harness.ts';
import { create, createVersions, promptBody, promptsPath, saying, type RawDocument } from './prompts-harness.ts';
import { setUp, startAnother } from '../support/per-operation.ts';

/** `setup.service` reaches the database directly, `service` through a proxy that loses messages on request. */
const setup = setUp();
let proxy: LossyProxy;
let service: TestService;
beforeAll(async () => {
  proxy = await LossyProxy.start(testDatabaseUri());
  service = await startAnother(setup.service, { MONGODB_URI: proxy.uri });
});
afterAll(async () => {
  await service.close();
  await proxy.stop();
});

const put = (key: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> =>
  service.call('PUT', `${promptsPath}/${key}`, { body, headers });
const versionsOf = async (id: string): Promise<number[]> => {
  const { body } = await setup.service.call('GET', `${promptsPath}/${id}/versions?limit=100`);
  return body.data.map(({ version }: { version: number }) => version) as number[];
};

describe.each(writeLosses)('when %s', (_what, loss) => {
  const lose = (collection: string, ...commands: string[]): Promise<void> =>
    proxy.lose({ ...loss, collection, commands });

  it.each([undefined, 'chosen'])('createPrompt stores one prompt (slug %p)', async (chosen) => {
    const slug = chosen === undefined ? undefined : `chosen-${Math.random().toString(36).slice(2)}`;
    const body = promptBody(slug === undefined ? {} : { slug });
    const lost = lose('prompts', 'insert');
    const created = await service.call('POST', promptsPath, { body });
    await lost;
    expect(created.status).toBe(201);
    const found = await setup.service.call('GET', `${promptsPath}?q=${created.body.slug}`);
    expect(found.body.data).toEqual([created.body]);
  });

  it.each(['prompts', 'prompt_versions'])('updatePrompt creates one version (%s)', async (collection) => {
    const { id, etag } = await createVersions(setup.service, 1).then(async ({ id: made }) => {
      const { headers } = await setup.service.call('GET', `${promptsPath}/${made}`);
      return { id: made, etag: headers['etag'] ?? '' };
    });
    const lost = lose(collection, 'update');
    const updated = await put(id, saying('v2'), { 'If-Match': etag });
    await lost;
    expect(updated).toMatchObject({ status: 200, body: { version: 2 } });
    const stored = await setup.service.call('GET', `${promptsPath}/${id}`);
    expect(stored.body).toEqual(updated.body);
    expect(stored.headers['etag']).toBe(updated.headers['etag']);
    expect(await versionsOf(id)).toEqual([2, 1]);
  });

  it('updatePrompt changes a slug', async () => {
    const { id, slug } = await create(setup.service);
    const lost = lose('prompts', 'update');
    const updated = await put(slug, { slug: `${slug}-moved` });
    await lost;
    expect(updated).toMatchObject({ status: 200, body: { id, slug: `${slug}-moved` } });
  });

  it('restorePromptVersion creates one version', async () => {
    const { id } = await createVersions(setup.service, 2);
    const lost = lose('prompts', 'update');
    const { status, body } = await service.call('POST', `${promptsPath}/${id}/versions/1/restore`);
    await lost;
    expect(status).toBe(200);
    expect(body).toMatchObject({ ...saying('v1'), version: 3 });
    expect(await versionsOf(id)).toEqual([3, 2, 1]);
  });

  it.each([
    ['prompts', 'update'],
    ['prompt_versions', 'delete'],
    ['prompts', 'delete'],
  ])('deletePrompt removes everything (%s, %s)', async (collection, command) => {
    const { id } = await createVersions(setup.service, 2);
    const lost = lose(collection, command);
    expect((await service.call('DELETE', `${promptsPath}/${id}`)).status).toBe(200);
    await lost;
    expect((await setup.service.call('GET', `${promptsPath}/${id}`)).status).toBe(404);
    expect(await setup.database.db.collection('prompt_versions').countDocuments({ prompt_id: id })).toBe(0);
  });

  it.each(['prompts', 'label_moves'])('setLabel moves a label once (%s)', async (collection) => {
    const { id } = await createVersions(setup.service, 2);
    const { headers } = await moveThrough(setup.service, id, 'production', [1, 2]);
    const lost = lose(collection, 'update');
    const moved = await setLabel(service, id, 'production', 1, { headers: { 'If-Match': headers['etag'] ?? '' } });
    await lost;
    expect(moved).toMatchObject({ status: 200, body: { version: 1, sequence: 3 } });
    expect((await setup.service.call('GET', labelPath(id, 'production'))).body).toEqual(moved.body);
    expect(await historyOf(setup.service, id, 'production')).toEqual([1, 2, 1]);
  });

  it.each(['prompts', 'label_moves'])('deleteLabel deletes a label once (%s)', async (collection) => {
    const { id } = await createVersions(setup.service, 1);
    await setLabel(setup.service, id, 'production', 1);
    const lost = lose(collection, 'update');
    const headers = { 'If-Match': '*' };
    expect((await service.call('DELETE', labelPath(id, 'production'), { headers })).status).toBe(200);
    await lost;
    expect(await historyOf(setup.service, id, 'production')).toEqual([undefined, 1]);
  });

  it('twenty simultaneous updates create twenty versions', async () => {
    const { id } = await create(setup.service);
    const lost = [lose('prompts', 'update'), lose('prompt_versions', 'update')];
    const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => put(id, saying(`write ${index}`))));
    await Promise.all(lost);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(answers.map(({ body }) => body.version as number)).size).toBe(20);
    expect(await versionsOf(id)).toEqual(Array.from({ length: 21 }, (_, index) => 21 - index));
  });
});

describe('when no answer arrives during all attempts of the service', () => {
  let cut: LossyProxy;
  let unlucky: TestService;
  beforeEach(async () => {
    cut = await LossyProxy.start(testDatabaseUri());
    unlucky = await startAnother(setup.service, { MONGODB_URI: cut.uri });
    void cut.lose({ collection: 'prompts', commands: ['insert', 'update'], times: 1_000 });
  });
  afterEach(async () => {
    await unlucky.close();
    await cut.stop();
  });

  it('a repeated createPrompt finds the prompt that the first one stored', async () => {
    const body = promptBody({ slug: 'stored-but-not-answered' });
    const headers = { 'Idempotency-Key': 'no-answer' };
    const first = await unlucky.call('POST', promptsPath, { body, headers });
    expect(first.status).toBe(503);
    const second = await setup.service.call('POST', promptsPath, { body, headers });
    expect(second).toMatchObject({ status: 201, body: { slug: body['slug'] } });
    const prompts = setup.database.db.collection<RawDocument>('prompts');
    expect(await prompts.countDocuments({ slug: 'stored-but-not-answered' })).toBe(1);
  });

  it('a repeated updatePrompt creates no second version', async () => {
    const { id } = await create(setup.service);
    const first = await unlucky.call('PUT', `${promptsPath}/${id}`, { body: saying('new') });
    expect(first.status).toBe(503);
    const second = await setup.service.call('PUT', `${promptsPath}/${id}`, { body: saying('new') });
    expect(second).toMatchObject({ status: 200, body: { version: 2 } });
    expect(await versionsOf(id)).toEqual([2, 1]);
  });
});

it('updates of one prompt on a slow database take turns, so that none loses race after race', async () => {
  const { id } = await create(setup.service);
  const updates = 6;
  const texts = Array.from({ length: updates }, (_, index) => saying(`slow ${index}`));
  proxy.forget();
  proxy.delayMs = 150;
  const answers = await Promise.all(texts.map((text) => put(id, text))).finally(() => {
    proxy.delayMs = 0;
  });
  expect(answers.map(({ status }) => status)).toEqual(texts.map(() => 200));
  expect((await versionsOf(id)).length).toBe(updates + 1);
  // Each attempt archives the version before it writes the prompt.
  const attempts = proxy.seen.filter(({ name, collection }) => name === 'update' && collection === 'prompt_versions');
  // The first edits overlap, since nothing is known about the database yet. If all lost race after race, it were 21.
  expect(attempts.length).toBeLessThanOrEqual(updates + updates / 2);
});
