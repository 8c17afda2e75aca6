import { describe, expect, it } from '@jest/globals';
import { openShop, placeOrder, type Shop } from '../../orders/orders-harness.ts';
import { problem } from '../../support/per-operation.ts';
import { followEvents } from '../../support/follow-events.ts';
import type { Answer } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { createIntegration, sendTest, setUpIntegrations } from '../integrations/integrations-harness.ts';

const setup = setUpIntegrations();
const path = '/api/v1/events';

interface Page {
  readonly data: readonly { readonly id: string; readonly type: string; readonly targetId: string }[];
  readonly next: string;
  readonly more: boolean;
}

const read = async (query: Record<string, string> = {}, key?: string): Promise<Page> => {
  const target = `${path}?${new URLSearchParams(query).toString()}`;
  const { status, body } = await setup.service.call('GET', target, key === undefined ? {} : { key });
  expect(status).toBe(200);
  return body as Page;
};
const end = async (): Promise<string> => (await read({ after: 'now' })).next;
/** Waits until so many events are behind a cursor. */
const readSome = (after: string, count: number, query: Record<string, string> = {}): Promise<Page> =>
  until(
    () => read({ limit: '100', ...query, after }),
    ({ data }) => data.length >= count,
  );

async function orders(shop: Shop, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let each = 0; each < count; each += 1) ids.push((await placeOrder(setup.service, shop)).id);
  return ids;
}
const targetsOf = ({ data }: Pick<Page, 'data'>): string[] => data.map(({ targetId }) => targetId);

describe('200', () => {
  it('has each event once, as integrations receive it, in an order that stays', async () => {
    const integration = await createIntegration(setup.service, {
      url: setup.receiver.url,
      event_types: ['ORDER_PLACED'],
    });
    const after = await end();
    const shop = await openShop(setup.service);
    const ids = await orders(shop, 12);
    const { data, next, more } = await readSome(after, 12, { type: 'ORDER_PLACED' });
    expect(targetsOf({ data }).toSorted()).toEqual(ids.toSorted());
    expect(more).toBe(false);
    await until(() => setup.receiver.requests.length >= 12);
    const bodies = setup.receiver.requests.map(({ body }) => body.toString());
    expect(data.map((event) => JSON.stringify(event)).toSorted()).toEqual(bodies.toSorted());
    expect(integration.body['status']).toBe('active');

    const again: string[] = [];
    for (let at = after, page: Page | undefined; page === undefined || page.more; at = page.next) {
      page = await read({ after: at, limit: '5' });
      again.push(...page.data.filter(({ type }) => type === 'ORDER_PLACED').map(({ targetId }) => targetId));
    }
    expect(again).toEqual(targetsOf({ data }));
    expect(await read({ after: next })).toEqual({ data: [], next, more: false });
  });

  it('begins with the oldest event, and filters by types, location and target', async () => {
    const [one, other] = [await openShop(setup.service), await openShop(setup.service)];
    const after = await end();
    const [first = '', second = ''] = await orders(one, 2);
    const [third = ''] = await orders(other, 1);
    await setup.service.call('POST', `/v1/orders/${first}/cancel`);
    const all = await readSome(after, 4);
    expect(targetsOf(all).toSorted()).toEqual([first, first, second, third].toSorted());
    const found = async (query: Record<string, string>): Promise<string[]> =>
      targetsOf(await read({ after, ...query })).toSorted();
    expect(await found({ type: 'ORDER_CANCELED' })).toEqual([first]);
    expect(await found({ type: 'ORDER_CANCELED,ORDER_PLACED', location_id: one.location.id })).toEqual(
      [first, first, second].toSorted(),
    );
    expect(await found({ target_id: second })).toEqual([second]);
    expect(await found({ type: 'FISCAL_DAY_END' })).toEqual([]);
    const { data } = await read({ limit: '1' });
    expect(data).toHaveLength(1);
  });

  it('has no events that test an integration', async () => {
    const integration = await createIntegration(setup.service, { url: setup.receiver.url });
    const after = await end();
    await sendTest(setup.service, integration);
    const [id] = await orders(await openShop(setup.service), 1);
    expect(targetsOf(await readSome(after, 1))).toEqual([id]);
  });

  it('shows a key that is limited to locations only their events', async () => {
    const [own, other] = [await openShop(setup.service), await openShop(setup.service)];
    const body = { name: 'till', scopes: ['events:read'], limits: { locations: [own.location.id] } };
    const { body: made } = await setup.service.call('POST', '/api/v1/api-keys', { body });
    const after = await end();
    const [ownOrder] = await orders(own, 1);
    await orders(other, 1);
    await readSome(after, 2);
    const page = await read({ after }, String(made.key));
    expect(targetsOf(page)).toEqual([ownOrder]);
    expect(await read({ after: page.next }, String(made.key))).toMatchObject({ data: [], more: false });
    const foreign = await read({ after, location_id: other.location.id }, String(made.key));
    expect(foreign.data).toEqual([]);
  });

  it('sends the events as they come, and goes on after the last id', async () => {
    const shop = await openShop(setup.service);
    const [before = ''] = await orders(shop, 1);
    await until(
      () => read({ target_id: before }),
      ({ data }) => data.length > 0,
    );
    const stream = followEvents(setup.service, `${path}?after=now&type=ORDER_PLACED`);
    expect(await stream.next()).toMatchObject({ data: undefined, id: expect.stringMatching(/^[\w-]+$/) as unknown });
    const ids = await orders(shop, 3);
    const seen = [];
    for (let each = 0; each < 3; each += 1) seen.push(await stream.next());
    expect(seen.map(({ data }) => (JSON.parse(data ?? '') as { targetId: string }).targetId)).toEqual(ids);
    stream.close();
    expect(ids).not.toContain(before);

    const rest = followEvents(setup.service, path, { 'last-event-id': seen[0]?.id ?? '' });
    for (const id of ids.slice(1)) expect((await rest.next()).data).toContain(id);
    rest.close();
    const page = await read({ after: seen[1]?.id ?? '' });
    expect(targetsOf(page)).toEqual(ids.slice(2));
  });

  it('ends the stream of a key that is revoked, or whose limits change', async () => {
    const shop = await openShop(setup.service);
    const changes = [
      (id: string): Promise<Answer> => setup.service.call('POST', `/api/v1/api-keys/${id}/revoke`),
      (id: string): Promise<Answer> =>
        setup.service.call('PUT', `/api/v1/api-keys/${id}`, { body: { limits: { locations: [shop.location.id] } } }),
    ];
    const ends = changes.map(async (change) => {
      const body = { name: 'reader', scopes: ['events:read'] };
      const { body: made } = await setup.service.call('POST', '/api/v1/api-keys', { body });
      const stream = followEvents(setup.service, `${path}?after=now`, {
        authorization: `Bearer ${String(made.key)}`,
      });
      await stream.next();
      const began = performance.now();
      await change(String(made.id));
      const last = await stream.next();
      expect(last.event).toBe('problem');
      expect(JSON.parse(last.data ?? '')).toMatchObject({ status: 401 });
      expect(performance.now() - began).toBeLessThan(7_000);
      await stream.ended;
    });
    await Promise.all(ends);
  }, 30_000);
});

describe('400', () => {
  it('refuses what is no type of event', async () => {
    const answer = await setup.service.call('GET', `${path}?type=ORDER_PLACED,ORDER_PLACD`, { differs: 'type' });
    expect(answer.body).toMatchObject({ status: 400, errors: [{ parameter: 'type' }] });
  });

  it('refuses what is no cursor', async () => {
    const cursor = (text: string): string => Buffer.from(text).toString('base64url');
    for (const after of [
      'AAAA',
      'then',
      cursor('0.0.'),
      cursor('1.1.'),
      cursor('1.0.c81e4a97-3d5b-4062-9f7a-e12b6d80c5f4'),
      cursor('01.0.'),
    ]) {
      const answer = await setup.service.call('GET', `${path}?after=${after}`, { differs: 'cursor' });
      expect(answer.body).toMatchObject({ status: 400, errors: [{ parameter: 'after' }] });
    }
    const answer = await setup.service.call('GET', path, { headers: { 'last-event-id': 'AAAA' }, differs: 'cursor' });
    expect(answer.body).toMatchObject({ status: 400, errors: [{ header: 'Last-Event-ID' }] });
  });
});

describe('403', () => {
  it('needs events:read', async () => {
    const key = await setup.service.createKey('orders:read');
    const answer = await setup.service.call('GET', path, { key });
    expect(answer.body).toMatchObject({ status: 403 });
  });
});

describe('406', () => {
  it('has no other media types', async () => {
    const answer = await setup.service.call('GET', path, { headers: { accept: 'text/csv' } });
    expect(answer.body).toMatchObject({ status: 406 });
  });
});

describe('410', () => {
  it('refuses a cursor of another feed, and one whose events are gone, also as a stream', async () => {
    await orders(await openShop(setup.service), 1);
    const { next: after } = await until(
      () => read(),
      ({ data }) => data.length > 0,
    );
    const [block = '', index = ''] = Buffer.from(after, 'base64url').toString().split('.');
    const id = 'c81e4a97-3d5b-4062-9f7a-e12b6d80c5f4';
    for (const other of [
      `${block}.${index}.${id}`,
      `${block}.400.${id}`,
      `${Number(block) + 900}.1.${id}`,
      '9007199254740.0.',
    ]) {
      const cursor = Buffer.from(other).toString('base64url');
      const answer = await setup.service.call('GET', `${path}?after=${cursor}`);
      expect(answer.body).toMatchObject({ type: problem('cursor-unknown'), status: 410 });
      const stream = await setup.service.call('GET', path, {
        headers: { accept: 'text/event-stream', 'last-event-id': cursor },
      });
      expect(stream.body).toMatchObject({ status: 410 });
      expect((await read({ after: String(answer.body.first_cursor) })).data.length).toBeGreaterThan(0);
    }
  });

  it('says from where a reader can go on whose next events are no longer kept', async () => {
    const shop = await openShop(setup.service);
    const { next: after } = await read({ limit: '1' });
    const [kept = ''] = await orders(shop, 1);
    await until(
      () => read({ after: after, target_id: kept }),
      ({ data }) => data.length > 0,
    );
    const blocks = setup.database.db.collection<{ _id: string; from?: number }>('feed_blocks');
    const newest = Math.max(...(await blocks.find().toArray()).map(({ _id }) => Number(_id)).filter(Number.isFinite));
    await blocks.updateOne({ _id: 'kept' }, { $set: { from: newest } }, { upsert: true });
    await blocks.deleteMany({ _id: { $nin: ['kept', String(newest)] } });
    const answer = await setup.service.call('GET', `${path}?after=${after}`);
    expect(answer.body).toMatchObject({ type: problem('cursor-expired'), status: 410 });
    expect(targetsOf(await read({ after: String(answer.body.first_cursor) }))).toContain(kept);
    expect(targetsOf(await read())).toContain(kept);
  });
});
