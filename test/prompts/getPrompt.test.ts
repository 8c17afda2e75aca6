import { describe, expect, it } from '@jest/globals';
import { create, promptsPath, saying, type RawDocument } from './prompts-harness.ts';
import { problem, setUp } from '../support/per-operation.ts';

const setup = setUp();

describe('200', () => {
  it('finds a prompt by id and by slug', async () => {
    const { id, slug, etag, body } = await create(setup.service);
    for (const key of [id, slug]) {
      const found = await setup.service.call('GET', `${promptsPath}/${key}`);
      expect(found).toMatchObject({ status: 200, body });
      expect(found.headers['etag']).toBe(etag);
    }
  });

  it('answers HEAD without the body', async () => {
    const { id, etag } = await create(setup.service);
    const head = await setup.service.call('HEAD', `${promptsPath}/${id}`, { differs: 'HEAD' });
    expect(head).toMatchObject({ status: 200, text: '' });
    expect(head.headers['etag']).toBe(etag);
  });
});

describe('304', () => {
  it('answers 304 until it changes', async () => {
    const { id, etag } = await create(setup.service);
    const path = `${promptsPath}/${id}`;
    const known = { headers: { 'If-None-Match': etag } };
    expect(await setup.service.call('GET', path, known)).toMatchObject({ status: 304, text: '' });
    await setup.service.call('PUT', path, { body: { description: 'changed' } });
    expect(await setup.service.call('GET', path, known)).toMatchObject({
      status: 200,
      body: { description: 'changed' },
    });
  });
});

describe('400', () => {
  it.each(['a--b', '-a', 'a.b', '_a', 'x'.repeat(101), '%24where', 'a%00b'])(
    'refuses the slug or id %p',
    async (key) => {
      const { status, body } = await setup.service.call('GET', `${promptsPath}/${key}`);
      expect(status).toBe(400);
      expect(body.errors).toMatchObject([{ parameter: 'slugOrId' }]);
    },
  );

  it('refuses unknown query parameters', async () => {
    const { slug } = await create(setup.service);
    const { status } = await setup.service.call('GET', `${promptsPath}/${slug}?fields=name`);
    expect(status).toBe(400);
  });
});

describe('404', () => {
  it.each(['no-such-prompt', '00000000-0000-4000-8000-000000000000'])('says that %s does not exist', async (key) => {
    const { status, body } = await setup.service.call('GET', `${promptsPath}/${key}`);
    expect(status).toBe(404);
    expect(body).toMatchObject({
      type: problem('prompt-not-found'),
      detail: `No prompt has the id or slug "${key}".`,
      instance: `${promptsPath}/${key}`,
    });
  });

  it('does not show a prompt whose deletion has begun', async () => {
    const { id, slug } = await create(setup.service);
    await setup.database.db.collection<RawDocument>('prompts').updateOne({ _id: id }, { $set: { deleting: true } });
    for (const key of [id, slug]) {
      expect((await setup.service.call('GET', `${promptsPath}/${key}`)).status).toBe(404);
    }
  });
});

describe('500', () => {
  it('hides the cause', async () => {
    const { id } = await create(setup.service, saying('secret'));
    await setup.database.db.collection<RawDocument>('prompts').updateOne({ _id: id }, { $unset: { messages: '' } });
    const { status, body } = await setup.service.call('GET', `${promptsPath}/${id}`);
    expect(status).toBe(500);
    expect(body).toMatchObject({ type: problem('internal-error'), request_id: expect.any(String) });
    expect(body.detail).not.toMatch(/map|undefined/);
  });
});
