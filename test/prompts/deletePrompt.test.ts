import { describe, expect, it } from '@jest/globals';
import { removeOrphans } from '../../src/prompts/prompt-deletion.ts';
import { createPrompts, type Prompts } from '../../src/prompts/prompts.ts';
import { createPromptStore } from '../../src/prompts/prompt-store.ts';
import type { Answer } from '../support/service.ts';
import { create, createVersions, promptsPath, saying, type RawDocument } from './prompts-harness.ts';
import { problem, setUp } from '../support/per-operation.ts';
import { system } from '../../src/base/runtime/system.ts';
import { droppingRelay } from '../support/dropping-relay.ts';

const setup = setUp();
const remove = (key: string, headers: Record<string, string> = {}): Promise<Answer> =>
  setup.service.call('DELETE', `${promptsPath}/${key}`, { headers });
const prompts = () => setup.database.db.collection<RawDocument>('prompts');
const versions = () => setup.database.db.collection<RawDocument>('prompt_versions');

/** Runs the maintenance of the service now. */
function sweeper(cascades: ((promptId: string) => Promise<void>)[] = []): Prompts {
  const store = createPromptStore(setup.database);
  return createPrompts({
    ...system,
    store,
    cascades,
    relay: droppingRelay(setup.database),
    isKnownProvider: () => true,
  });
}

describe('200', () => {
  it('removes the prompt with its versions and test runs', async () => {
    const { id, slug } = await createVersions(setup.service, 3);
    const run = await setup.service.call('POST', `${promptsPath}/${id}/test`, {
      body: { providers: [{ provider: 'echo' }] },
    });
    expect(run.status).toBe(201);
    const { status, body } = await remove(slug);
    expect(status).toBe(200);
    expect(body).toEqual({ ok: true });
    for (const path of [id, slug, `${id}/versions`, `${id}/versions/1`, `${id}/test-runs`]) {
      expect((await setup.service.call('GET', `${promptsPath}/${path}`)).status).toBe(404);
    }
    expect((await setup.service.call('GET', `/api/v1/test-runs/${run.body.id}`)).status).toBe(404);
    expect((await setup.service.call('GET', `/api/v1/test-runs/${run.body.id}/results`)).status).toBe(404);
    expect(await versions().countDocuments({ prompt_id: id })).toBe(0);
    expect(await prompts().countDocuments({ _id: id })).toBe(0);
  });

  it('releases the slug', async () => {
    const { id, slug } = await create(setup.service);
    await remove(id);
    expect((await create(setup.service, { slug })).id).not.toBe(id);
  });

  it('continues an interrupted removal, with any If-Match', async () => {
    const { id, slug } = await createVersions(setup.service, 2);
    await prompts().updateOne({ _id: id }, { $set: { deleting: true, revision: 3 } });
    expect(await remove(slug, { 'If-Match': `"${id}.2"` })).toMatchObject({ status: 200, body: { ok: true } });
    expect(await versions().countDocuments({ prompt_id: id })).toBe(0);
    expect((await remove(slug)).status).toBe(404);
  });

  it('keeps the prompt for a later removal when a part of the removal fails, and finishes it then', async () => {
    const { id } = await createVersions(setup.service, 2);
    const other = await create(setup.service);
    await prompts().updateMany({ _id: { $in: [id, other.id] } }, { $set: { deleting: true } });
    const failing = sweeper([
      (promptId) => (promptId === id ? Promise.reject(new Error('bucket away')) : Promise.resolve()),
    ]);
    await expect(failing.sweep()).rejects.toThrow('bucket away');
    expect(await prompts().countDocuments({ _id: { $in: [id, other.id] } })).toBe(1);
    expect(await versions().countDocuments({ prompt_id: id })).toBe(1);
    await sweeper().sweep();
    expect(await prompts().countDocuments({ _id: id })).toBe(0);
    expect(await versions().countDocuments({ prompt_id: id })).toBe(0);
  });

  it('leaves versions that a crashed update stored late to the sweep', async () => {
    const { id } = await createVersions(setup.service, 2);
    const { id: kept } = await createVersions(setup.service, 3);
    const late = await versions().findOne({ prompt_id: id });
    await remove(id);
    if (late !== null) await versions().insertOne(late);
    await sweeper().sweepVersions();
    expect(await versions().countDocuments({ prompt_id: id })).toBe(0);
    expect(await versions().countDocuments({ prompt_id: kept })).toBe(2);
  });

  it('removes such versions also after those of another prompt cannot be removed', async () => {
    const removed: string[] = [];
    const archive = {
      async *promptIds() {
        yield ['first'];
        yield ['second', 'third'];
      },
      async removeAll(promptId: string) {
        if (promptId !== 'third') throw new Error('not this one');
        removed.push(promptId);
      },
    };
    const sweep = removeOrphans(archive, { existing: async () => new Set() });
    await expect(sweep).rejects.toThrow('not this one (first, second)');
    expect(removed).toEqual(['third']);
  });

  it('deletes once when many callers delete at the same time', async () => {
    const { id } = await createVersions(setup.service, 2);
    const answers = await Promise.all(Array.from({ length: 5 }, () => remove(id)));
    const statuses = answers.map(({ status }) => status);
    expect(statuses).toContain(200);
    expect(statuses.every((status) => status === 200 || status === 404)).toBe(true);
  });

  it('takes precedence over simultaneous updates, permanently', async () => {
    const { id } = await createVersions(setup.service, 2);
    const answers = await Promise.all([
      ...Array.from({ length: 10 }, (_, index) =>
        setup.service.call('PUT', `${promptsPath}/${id}`, { body: saying(`late ${index}`) }),
      ),
      remove(id),
    ]);
    expect(answers.at(-1)?.status).toBe(200);
    expect(answers.every(({ status }) => status === 200 || status === 404)).toBe(true);
    expect(await prompts().countDocuments({ _id: id })).toBe(0);
    expect(await versions().countDocuments({ prompt_id: id })).toBe(0);
  });

  it('deletes a prompt that If-Match matches', async () => {
    const { id, etag } = await create(setup.service);
    expect((await remove(id, { 'If-Match': etag })).status).toBe(200);
  });
});

describe('400', () => {
  it('refuses a value that cannot be a slug or id', async () => {
    const { status, body } = await remove('Not-a-slug');
    expect(status).toBe(400);
    expect(body.errors).toMatchObject([{ parameter: 'slugOrId' }]);
  });
});

describe('404', () => {
  it.each(['no-such-prompt', '00000000-0000-4000-8000-000000000000'])('says that %s does not exist', async (key) => {
    const { status, body } = await remove(key);
    expect(status).toBe(404);
    expect(body.type).toBe(problem('prompt-not-found'));
  });
});

describe('412', () => {
  it('does not delete a prompt that has changed', async () => {
    const { id, etag } = await create(setup.service);
    await setup.service.call('PUT', `${promptsPath}/${id}`, { body: { description: 'changed' } });
    const { status, body } = await remove(id, { 'If-Match': etag });
    expect(status).toBe(412);
    expect(body.type).toBe(problem('precondition-failed'));
    expect((await setup.service.call('GET', `${promptsPath}/${id}`)).status).toBe(200);
  });
});

describe('500', () => {
  it('hides the cause', async () => {
    const { id } = await create(setup.service);
    await prompts().updateOne({ _id: id }, { $unset: { messages: '' } });
    const { status, body } = await remove(id);
    expect(status).toBe(500);
    expect(body.type).toBe(problem('internal-error'));
  });
});
