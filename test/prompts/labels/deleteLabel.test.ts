import { describe, expect, it } from '@jest/globals';
import { createLabelMoveStore } from '../../../src/prompts/labels/label-store.ts';
import { createLabelEdits } from '../../../src/prompts/labels/label-edits.ts';
import { createLabels, type Labels } from '../../../src/prompts/labels/labels.ts';
import { createPast } from '../../../src/prompts/labels/past.ts';
import { createPromptStore } from '../../../src/prompts/prompt-store.ts';
import { createPrompts } from '../../../src/prompts/prompts.ts';
import { system } from '../../../src/base/runtime/system.ts';
import { droppingRelay } from '../../support/dropping-relay.ts';
import { problem, setUp } from '../../support/per-operation.ts';
import type { Answer } from '../../support/service.ts';
import { create, createVersions, promptsPath, saying, type RawDocument } from '../prompts-harness.ts';
import { historyOf, labelPath, moveThrough, setLabel } from './labels-harness.ts';

const setup = setUp();
const any = { 'If-Match': '*' };
const remove = (prompt: string, label: string, headers: Record<string, string> = any): Promise<Answer> =>
  setup.service.call('DELETE', labelPath(prompt, label), { headers });
const moves = () => setup.database.db.collection<RawDocument>('label_moves');

/** The rules of labels as another process has them. */
function labels(): Labels {
  const store = createPromptStore(setup.database);
  const prompts = createPrompts({
    ...system,
    store,
    cascades: [],
    relay: droppingRelay(setup.database),
    isKnownProvider: () => true,
  });
  const none = () => Promise.reject(new Error('there is no gate'));
  const moveStore = createLabelMoveStore(setup.database);
  const edit = createLabelEdits({ ...system, store, moves: moveStore, relay: droppingRelay(setup.database) });
  const canaries = { end: () => Promise.reject(new Error('there are none')) };
  const verdicts = { decide: none, keep: none };
  return createLabels({
    ...system,
    store,
    prompts,
    canaries,
    moves: moveStore,
    edit,
    past: createPast(prompts, moveStore),
    verdicts,
  });
}

describe('200', () => {
  it('removes the label, and keeps its history with the deletion', async () => {
    const { id, slug } = await createVersions(setup.service, 2);
    const { headers } = await moveThrough(setup.service, id, 'production', [1, 2]);
    await setLabel(setup.service, id, 'staging', 2);
    const { status, body } = await remove(slug, 'production', { 'If-Match': headers['etag'] ?? '' });
    expect([status, body]).toEqual([200, { ok: true }]);
    expect((await setup.service.call('GET', labelPath(id, 'production'))).status).toBe(404);
    expect((await setup.service.call('GET', `${promptsPath}/${id}`)).body.labels).toEqual({ staging: 2 });
    expect(await historyOf(setup.service, id, 'production')).toEqual([undefined, 2, 1]);
    // Later changes of other labels take its deletion to the archive.
    await remove(id, 'staging');
    expect((await setup.service.call('GET', `${promptsPath}/${id}`)).body).not.toHaveProperty('labels');
    expect(await historyOf(setup.service, id, 'production')).toEqual([undefined, 2, 1]);
    expect(await historyOf(setup.service, id, 'staging')).toEqual([undefined, 2]);
  });

  it.each(['immediately', 'after changes of other labels'])(
    'numbers the moves of a label that is created again on, %s',
    async (when) => {
      const { id } = await createVersions(setup.service, 2);
      await moveThrough(setup.service, id, 'production', [1]);
      await remove(id, 'production');
      if (when !== 'immediately') await moveThrough(setup.service, id, 'staging', [1, 2]);
      const { status, body } = await setLabel(setup.service, id, 'production', 2);
      expect([status, body.sequence]).toEqual([201, 3]);
      expect(await historyOf(setup.service, id, 'production')).toEqual([2, undefined, 1]);
    },
  );

  it('of a prompt removes its labels and their history', async () => {
    const { id } = await createVersions(setup.service, 2);
    await moveThrough(setup.service, id, 'production', [1, 2, 1]);
    await moveThrough(setup.service, id, 'staging', [2]);
    await remove(id, 'staging');
    await moveThrough(setup.service, id, 'canary', [2]);
    expect(await moves().countDocuments({ prompt_id: id })).toBe(4);
    expect((await setup.service.call('DELETE', `${promptsPath}/${id}`)).status).toBe(200);
    expect(await moves().countDocuments({ prompt_id: id })).toBe(0);
    for (const path of ['', '/production', '/production/history']) {
      expect((await setup.service.call('GET', `${promptsPath}/${id}/labels${path}`)).status).toBe(404);
    }
  });

  it('of a prompt leaves what a crashed move archived late to the sweep', async () => {
    const { id } = await createVersions(setup.service, 2);
    const { id: kept } = await createVersions(setup.service, 2);
    for (const prompt of [id, kept]) await moveThrough(setup.service, prompt, 'production', [1, 2]);
    const late = await moves().findOne({ prompt_id: id });
    await setup.service.call('DELETE', `${promptsPath}/${id}`);
    if (late !== null) await moves().insertOne(late);
    await labels().sweep();
    expect(await moves().countDocuments({ prompt_id: id })).toBe(0);
    expect(await moves().countDocuments({ prompt_id: kept })).toBe(1);
  });
});

describe('400', () => {
  it('refuses a name that no label can have', async () => {
    const { id } = await create(setup.service);
    const { status, body } = await remove(id, '__proto__');
    expect([status, body.type]).toEqual([400, problem('invalid-request')]);
  });
});

describe('403', () => {
  it('refuses a key without the scope', async () => {
    const { id } = await create(setup.service);
    const key = await setup.service.createKey('prompts:write');
    const { status } = await setup.service.call('DELETE', labelPath(id, 'production'), { key, headers: any });
    expect(status).toBe(403);
  });
});

describe('404', () => {
  it('says that there is no such label', async () => {
    const { id } = await create(setup.service);
    const { status, body } = await remove(id, 'production');
    expect([status, body.type]).toEqual([404, problem('label-not-found')]);
  });

  it('says that the prompt does not exist', async () => {
    const { status, body } = await remove('no-such-prompt', 'production');
    expect([status, body.type]).toEqual([404, problem('prompt-not-found')]);
  });
});

describe('412', () => {
  it('does not delete a label that has been moved', async () => {
    const { id } = await createVersions(setup.service, 2);
    const seen = await moveThrough(setup.service, id, 'production', [1]);
    await setLabel(setup.service, id, 'production', 2, { headers: any });
    const { status, body } = await remove(id, 'production', { 'If-Match': seen.headers['etag'] ?? '' });
    expect([status, body.type]).toEqual([412, problem('precondition-failed')]);
    expect((await setup.service.call('GET', labelPath(id, 'production'))).body.version).toBe(2);
  });
});

describe('428', () => {
  it('does not delete without If-Match', async () => {
    const { id } = await create(setup.service);
    await setLabel(setup.service, id, 'production', 1);
    const { status, body } = await remove(id, 'production', {});
    expect([status, body.type]).toEqual([428, problem('precondition-required')]);
    expect((await setup.service.call('GET', labelPath(id, 'production'))).status).toBe(200);
  });
});

describe('500', () => {
  it('hides the cause', async () => {
    const { id } = await create(setup.service);
    await setLabel(setup.service, id, 'production', 1);
    const prompts = setup.database.db.collection<RawDocument>('prompts');
    await prompts.updateOne({ _id: id }, { $unset: { messages: '' } });
    expect(await remove(id, 'production')).toMatchObject({ status: 500, body: { type: problem('internal-error') } });
  });
});

describe('listLabelMoves', () => {
  const list = (prompt: string, label: string): Promise<Answer> =>
    setup.service.call('GET', `${labelPath(prompt, label)}/history`);

  it('200: shows who moved the label when', async () => {
    const { id } = await createVersions(setup.service, 2);
    const first = await moveThrough(setup.service, id, 'production', [1]);
    const key = await setup.service.createKey('prompts:release');
    const second = await setLabel(setup.service, id, 'production', 2, { key, headers: any });
    await remove(id, 'production');
    const { body } = await list(id, 'production');
    const [deletion, ...others] = body.data;
    expect(others).toEqual([second.body, first.body].map(({ name: _, ...move }: { name: string }) => move));
    expect(second.body.author).toEqual({ type: 'key', id: expect.stringMatching(/^[0-9a-f-]{36}$/), name: 'test' });
    expect(deletion).toEqual({
      sequence: 3,
      moved_at: expect.any(String),
      author: { type: 'key', id: 'administrator', name: 'administrator' },
    });
    expect(body.pagination.total).toBe(3);
  });

  it('200: shows what a move changed for callers, also when it is archived', async () => {
    const { id } = await create(setup.service, saying('Hello.'));
    for (const text of ['Hello {{name}}.', 'Hello.']) {
      await setup.service.call('PUT', `${promptsPath}/${id}`, { body: saying(text) });
    }
    await moveThrough(setup.service, id, 'production', [1, 2, 3]);
    await remove(id, 'production');
    const { body } = await list(id, 'production');
    const codes = body.data.map(({ warnings }: { warnings?: { code: string }[] }) => warnings?.map(({ code }) => code));
    expect(codes).toEqual([undefined, ['variable-removed'], ['variable-required'], undefined]);
  });

  it('200: shows a move once that was archived, but not replaced', async () => {
    const { id } = await createVersions(setup.service, 2);
    await moveThrough(setup.service, id, 'production', [1, 2]);
    // A process archived the present move, and crashed before it replaced it in the prompt.
    const { body } = await setup.service.call('GET', labelPath(id, 'production'));
    await createLabelMoveStore(setup.database).archive(id, {
      name: 'production',
      version: 2,
      sequence: 2,
      warnings: [],
      movedAt: new Date(body.moved_at as string),
      author: body.author as { type: 'key'; id: string; name: string },
    });
    expect(await historyOf(setup.service, id, 'production')).toEqual([2, 1]);
    await setLabel(setup.service, id, 'production', 1, { headers: any });
    expect(await historyOf(setup.service, id, 'production')).toEqual([1, 2, 1]);
  });

  it('404: says that there was never such a label', async () => {
    const { id } = await create(setup.service);
    await setLabel(setup.service, id, 'production', 1);
    const { status, body } = await list(id, 'constructor');
    expect([status, body.type]).toEqual([404, problem('label-not-found')]);
  });

  it('404: says that the prompt does not exist', async () => {
    const { status, body } = await list('no-such-prompt', 'production');
    expect([status, body.type]).toEqual([404, problem('prompt-not-found')]);
  });
});
