/** What is announced of prompts: to integrations, and in the feed. */
import { expect, describe, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { createPromptStore } from '../../src/prompts/prompt-store.ts';
import { promptDeleted } from '../../src/webhooks/events/announcements.ts';
import { outboxCapacity } from '../../src/webhooks/events/outbox.ts';
import { openShop } from '../orders/orders-harness.ts';
import { problem } from '../support/per-operation.ts';
import { until } from '../support/until.ts';
import {
  createIntegration,
  path,
  publishedSchemas,
  setUpIntegrations,
} from '../webhooks/integrations/integrations-harness.ts';
import { any, createReleased, invokeMany, canaryPath, setCanary } from './evaluations/canaries/canaries-harness.ts';
import { labelPath, setLabel } from './labels/labels-harness.ts';
import { create, createVersions, promptsPath, saying, type RawDocument } from './prompts-harness.ts';

const types = ['PROMPT_VERSION_CREATED', 'PROMPT_LABEL_MOVED', 'PROMPT_DELETED'];
const setup = setUpIntegrations();
const author = { type: 'key', id: 'administrator', name: 'administrator' };

interface Told {
  readonly type: string;
  readonly targetId: string;
  readonly data: Record<string, unknown>;
}

/** All events that a key finds in the feed, when there are some. */
async function find(query: string, count: number, key?: string): Promise<Told[]> {
  const readAll = async (): Promise<Told[]> => {
    const events: Told[] = [];
    for (let after = ''; ;) {
      const page = await setup.service.call('GET', `/api/v1/events?${query}&limit=100${after}`, {
        ...(key !== undefined && { key }),
      });
      expect(page.status).toBe(200);
      events.push(...(page.body.data as Told[]));
      if (page.body.more !== true) return events;
      after = `&after=${page.body.next as string}`;
    }
  };
  return await until(readAll, (events) => events.length >= count);
}

const told = (target: string, count: number, key?: string): Promise<Told[]> => find(`target_id=${target}`, count, key);

const dataOf = (events: readonly Told[], type: string): Record<string, unknown>[] =>
  events.filter((event) => event.type === type).map(({ data }) => data);

describe('a new version', () => {
  it('is announced once, by whatever it is made, and only if the content changes', async () => {
    const { id, slug } = await createVersions(setup.service, 2);
    const update = (body: object) => setup.service.call('PUT', `${promptsPath}/${id}`, { body });
    expect((await update({ name: 'Another name' })).status).toBe(200);
    expect((await update(saying('v2'))).status).toBe(200);
    const stale = { headers: { 'If-Match': `"${id}.1"` }, body: saying('v9') };
    expect((await setup.service.call('PUT', `${promptsPath}/${id}`, stale)).status).toBe(412);
    const restored = await setup.service.call('POST', `${promptsPath}/${id}/versions/1/restore`);
    expect([restored.status, restored.body.version]).toEqual([200, 3]);

    const imported = `imported-${randomUUID().slice(0, 8)}`;
    const versions = [1, 2].map((version) => ({ version, ...saying(`i${version}`) }));
    const sent = { prompts: [{ slug: imported, name: imported, versions, labels: { production: 1 } }] };
    const answer = await setup.service.call('POST', `${promptsPath}/import`, { body: sent });
    expect(answer.status).toBe(200);

    expect(dataOf(await told(id, 3), 'PROMPT_VERSION_CREATED')).toEqual(
      [1, 2, 3].map((version) => ({ slug, version, author })),
    );
    const events = await told(answer.body.results[0].id as string, 3);
    expect(dataOf(events, 'PROMPT_VERSION_CREATED')).toMatchObject([{ version: 1 }, { version: 2 }]);
    expect(dataOf(events, 'PROMPT_LABEL_MOVED')).toMatchObject([{ label: 'production', to: 1, cause: 'moved' }]);
  });
});

describe('a move of a label', () => {
  it('is announced once, with its cause, and what is refused is not', async () => {
    const { id, slug } = await createVersions(setup.service, 3);
    const move = async (version: number, status: number): Promise<void> => {
      const options = { headers: status === 201 ? {} : any };
      expect((await setLabel(setup.service, id, 'production', version, options)).status).toBe(status);
    };
    await move(1, 201);
    await move(2, 200);
    await move(2, 200); // It already names this version.
    const stale = await setLabel(setup.service, id, 'production', 3, {
      headers: { 'If-Match': `"${id}.production.1"` },
    });
    expect(stale.status).toBe(412);
    const canary = { version: 3, share: 0.5, hours: 1 };
    expect((await setCanary(setup.service, id, canary)).status).toBe(201);
    expect((await setCanary(setup.service, id, { ...canary, share: 0.1 })).status).toBe(200);
    const stopped = await setup.service.call('DELETE', canaryPath(id), { headers: any });
    expect(stopped.status).toBe(200);
    expect((await setCanary(setup.service, id, canary)).status).toBe(201);
    const promoted = await setup.service.call('POST', `${canaryPath(id)}/promote`, { headers: any });
    expect(promoted.status).toBe(200);
    expect((await setCanary(setup.service, id, { ...canary, version: 1 })).status).toBe(201);
    await move(2, 200);
    expect((await setup.service.call('DELETE', labelPath(id, 'production'), { headers: any })).status).toBe(200);
    await move(1, 201);

    const of = { slug, label: 'production', author };
    expect(dataOf(await told(id, 14), 'PROMPT_LABEL_MOVED')).toEqual([
      { ...of, sequence: 1, to: 1, cause: 'moved' },
      { ...of, sequence: 2, from: 1, to: 2, cause: 'moved' },
      { ...of, sequence: 3, from: 2, to: 2, cause: 'canary-started', canaryVersion: 3 },
      { ...of, sequence: 4, from: 2, to: 2, cause: 'canary-changed', canaryVersion: 3 },
      { ...of, sequence: 5, from: 2, to: 2, cause: 'canary-stopped', canaryVersion: 3 },
      { ...of, sequence: 6, from: 2, to: 2, cause: 'canary-started', canaryVersion: 3 },
      { ...of, sequence: 7, from: 2, to: 3, cause: 'canary-promoted', canaryVersion: 3 },
      { ...of, sequence: 8, from: 3, to: 3, cause: 'canary-started', canaryVersion: 1 },
      { ...of, sequence: 9, from: 3, to: 2, cause: 'moved' },
      { ...of, sequence: 10, from: 2, cause: 'deleted' },
      { ...of, sequence: 11, to: 1, cause: 'moved' },
    ]);
  });
});

describe('a canary whose version fails', () => {
  it('is ended by the service, which announces it', async () => {
    const { id, slug } = await createReleased(setup.service);
    expect((await setCanary(setup.service, id)).status).toBe(201);
    await invokeMany(setup.service, id, 100);
    const moves = dataOf(await told(id, 5), 'PROMPT_LABEL_MOVED');
    const service = { type: 'system', id: 'service', name: 'Service' };
    const ended = { from: 1, to: 1, cause: 'canary-failures', canaryVersion: 2, author: service };
    expect(moves.at(-1)).toEqual({ slug, label: 'production', sequence: 3, ...ended });
  });
});

describe('a deletion', () => {
  const remove = (id: string, headers = {}) => setup.service.call('DELETE', `${promptsPath}/${id}`, { headers });

  it('is announced once, after everything else of the prompt, and the slug is free at once', async () => {
    const { id, slug } = await createVersions(setup.service, 2);
    await setLabel(setup.service, id, 'production', 1);
    expect((await remove(id, { 'If-Match': `"${id}.1"` })).status).toBe(412);
    const answers = await Promise.all([remove(id), remove(id), remove(slug)]);
    expect(answers.map(({ status }) => status).filter((status) => status === 200).length).toBeGreaterThan(0);
    expect(await setup.database.db.collection<RawDocument>('prompts').findOne({ _id: id })).toBeNull();
    const again = await create(setup.service, { slug });
    const events = await told(id, 4);
    expect(events.map(({ type }) => type)).toEqual([types[0], types[0], types[1], types[2]]);
    expect(events.at(-1)?.data).toEqual({ slug, author });
    expect(await told(again.id, 1)).toHaveLength(1);
  });

  it('that a process began and left is announced all the same', async () => {
    const { id, slug } = await create(setup.service);
    await told(id, 1);
    const store = createPromptStore(setup.database);
    const prompt = await store.find(id);
    if (prompt === undefined) throw new Error('there is none');
    const occasion = { eventId: randomUUID(), at: new Date(), traceparent: undefined };
    const event = promptDeleted({ promptId: id, slug, author: { ...author } as never }, occasion);
    const entry = { id: randomUUID(), at: occasion.at, operation: 'deletePrompt', resource_type: 'prompt' };
    const recorded = { ...entry, resource_id: id, author: author as never, request_id: 'left' };
    expect(await store.markDeleting(prompt, event, recorded)).toBe(true);
    // What would be lost with the document keeps it.
    await store.remove(id);
    expect((await store.find(id))?.waiting).toBe(1);
    expect((await remove(id)).status).toBe(200);
    expect((await told(id, 2)).map(({ type }) => type)).toEqual([types[0], types[2]]);
    expect(await store.find(id)).toBeUndefined();
  });
});

describe('a deletion whose events cannot be sent', () => {
  it('gives up its names at once, and is finished later', async () => {
    const { id, slug } = await create(setup.service, { aliases: ['pmpt_given_up'] });
    await told(id, 1);
    const broken = { id: randomUUID(), type: types[0], target_id: id, created_at: new Date(), data: { slug } };
    const prompts = setup.database.db.collection<RawDocument>('prompts');
    await prompts.updateOne({ _id: id }, { $set: { outbox: [broken] } });
    expect((await setup.service.call('DELETE', `${promptsPath}/${id}`)).status).toBe(200);
    expect((await setup.service.call('GET', `${promptsPath}/${id}`)).status).toBe(404);
    expect((await create(setup.service, { slug, aliases: ['pmpt_given_up'] })).id).not.toBe(id);
    expect(await prompts.countDocuments({ _id: id })).toBe(1);
    await prompts.updateOne({ _id: id }, { $pull: { outbox: { id: broken.id } } as never });
    expect((await setup.service.call('DELETE', `${promptsPath}/${id}`)).status).toBe(200);
    expect((await told(id, 2)).map(({ type }) => type)).toEqual([types[0], types[2]]);
    expect(await prompts.countDocuments({ _id: id })).toBe(0);
  });
});

describe('integrations', () => {
  it('get the events as they are published, with a sample of each', async () => {
    const isValid = await publishedSchemas(setup.service);
    const integration = await createIntegration(setup.service, { url: setup.receiver.url, event_types: types });
    const { id, slug } = await create(setup.service);
    await setLabel(setup.service, id, 'staging', 1);
    await setup.service.call('DELETE', `${promptsPath}/${id}`);
    await setup.receiver.received(3);
    for (const type of types) {
      expect((await setup.service.call('POST', `${integration.path}/test`, { body: { type } })).status).toBe(202);
    }
    await setup.receiver.received(6);
    const bodies = setup.receiver.requests.map(({ body }) => JSON.parse(String(body)) as Told & { test?: boolean });
    for (const body of bodies) {
      const validate = isValid(body.type);
      expect([validate(body), validate.errors]).toEqual([true, null]);
    }
    const sent = bodies.filter(({ test }) => test !== true);
    expect(sent.map(({ type }) => type).toSorted()).toEqual(types.toSorted());
    expect(sent.every(({ targetId, data }) => targetId === id && data['slug'] === slug)).toBe(true);
    expect(setup.receiver.requests[0]?.headers['x-service-event-target-uuid']).toBe(id);
  });

  it('for some locations get none', async () => {
    const { location } = await openShop(setup.service);
    const { deliveries } = await createIntegration(setup.service, {
      ...{ url: setup.receiver.url, event_types: types },
      location_ids: [location.id],
    });
    const { id } = await create(setup.service);
    await told(id, 1);
    const { body } = await setup.service.call('GET', deliveries);
    expect([body.data, setup.receiver.requests]).toEqual([[], []]);
  });
});

describe('a key that is limited to some prompts', () => {
  const makeKey = async (limits: object): Promise<string> => {
    const body = { name: 'limited', scopes: ['events:read', 'integrations:manage', 'prompts:write'], limits };
    const made = await setup.service.call('POST', '/api/v1/api-keys', { body });
    expect(made.status).toBe(201);
    return made.body.key as string;
  };

  it('reads what is announced of them, and of no others', async () => {
    const [own, other] = [await create(setup.service), await create(setup.service)];
    const key = await makeKey({ prompts: [own.id] });
    await told(other.id, 1);
    expect(await told(own.id, 1, key)).toHaveLength(1);
    const found = await find(`type=${types.join()}`, 1, key);
    expect(found.map(({ targetId }) => targetId)).toEqual([own.id]);
  });

  it('cannot let events of others be sent, unless it is limited to locations, which have none', async () => {
    const { id } = await create(setup.service);
    const { location } = await openShop(setup.service);
    const body = { name: 'mine', url: setup.receiver.url, event_types: types, unsigned: true };
    const key = await makeKey({ prompts: [id] });
    const refused = await setup.service.call('POST', path, { key, body });
    expect([refused.status, refused.body.type]).toEqual([403, problem('beyond-limits')]);
    const partner = await makeKey({ prompts: [id], locations: [location.id] });
    const made = await setup.service.call('POST', path, { key: partner, body });
    expect([made.status, made.body.location_ids]).toEqual([201, [location.id]]);
  });
});

describe('a prompt with as many waiting events as it can have', () => {
  it('has them sent before it takes another version', async () => {
    const { id, slug } = await create(setup.service);
    await told(id, 1);
    const outbox = Array.from({ length: outboxCapacity }, (_, index) => ({
      ...{ id: randomUUID(), type: types[0], target_id: id, created_at: new Date() },
      data: { slug, version: index + 2, author },
    }));
    await setup.database.db.collection<RawDocument>('prompts').updateOne({ _id: id }, { $set: { outbox } });
    const { status } = await setup.service.call('PUT', `${promptsPath}/${id}`, { body: saying('another') });
    expect(status).toBe(200);
    expect(await told(id, outboxCapacity + 2)).toHaveLength(outboxCapacity + 2);
  });
});
