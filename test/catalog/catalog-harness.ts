import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { problem, type Setup } from '../support/per-operation.ts';
import type { Answer, TestService } from '../support/service.ts';

export const unknownId = '00000000-0000-4000-8000-000000000000';
export const uuidForm = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Something that was created, with its entity tag. */
export interface Created {
  readonly id: string;
  readonly etag: string;
  readonly body: Answer['body'];
}

async function create(service: TestService, path: string, body: unknown): Promise<Created> {
  const answer = await service.call('POST', path, { body });
  expect(answer.status).toBe(201);
  return { id: (answer.body as { id: string }).id, etag: answer.headers['etag'] ?? '', body: answer.body };
}

export function locationBody(members: Record<string, unknown> = {}): Record<string, unknown> {
  return { name: 'Canal Café', currency: 'EUR', timezone: 'Europe/Amsterdam', ...members };
}

export function createLocation(service: TestService, members: Record<string, unknown> = {}): Promise<Created> {
  return create(service, '/v1/locations', locationBody(members));
}

export function createCategory(service: TestService, locationId: string, name = 'Hot drinks'): Promise<Created> {
  return create(service, '/v1/categories', { location_id: locationId, name });
}

export function productBody(category: Created, members: Record<string, unknown> = {}): Record<string, unknown> {
  const { location_id } = category.body as { location_id: string };
  return { location_id, category_id: category.id, name: 'Flat white', price: 420, ...members };
}

export function createProduct(
  service: TestService,
  category: Created,
  members: Record<string, unknown> = {},
): Promise<Created> {
  return create(service, '/v1/products', productBody(category, members));
}

/** A location with a category. */
export async function createCatalog(
  service: TestService,
  members: Record<string, unknown> = {},
): Promise<{ location: Created; category: Created }> {
  const location = await createLocation(service, members);
  return { location, category: await createCategory(service, location.id) };
}

/** What every creating operation with an idempotency key has in common. */
export function describeIdempotency(
  setup: Setup,
  prepare: () => Promise<{ path: string; body: Record<string, unknown>; other: Record<string, unknown> }>,
): void {
  describe('Idempotency-Key', () => {
    it('creates once, and replays the answer', async () => {
      const { path, body } = await prepare();
      const headers = { 'Idempotency-Key': randomUUID() };
      const first = await setup.service.call('POST', path, { body, headers });
      const second = await setup.service.call('POST', path, { body, headers });
      expect(first.status).toBe(201);
      expect(second.status).toBe(201);
      expect(second.text).toBe(first.text);
      expect(second.headers['location']).toBe(first.headers['location']);
      expect(second.headers['idempotency-replayed']).toBe('true');
    });

    it('is refused with another body', async () => {
      const { path, body, other } = await prepare();
      const headers = { 'Idempotency-Key': randomUUID() };
      await setup.service.call('POST', path, { body, headers });
      const { status, body: answer } = await setup.service.call('POST', path, { body: other, headers });
      expect(status).toBe(422);
      expect(answer.type).toBe(problem('idempotency-key-reused'));
    });
  });
}

/** What every list has in common. @param fill makes `count` entries, the newest last, and names the list they are in */
export function describePaging(
  setup: Setup,
  fill: (count: number) => Promise<{ path: string; ids: readonly string[] }>,
  idOf: (item: Answer['body']) => string = (item: { id: string }) => item.id,
): void {
  describe('pages', () => {
    it('go from the newest to the oldest, each linking to the next', async () => {
      const { path, ids } = await fill(5);
      const joint = path.includes('?') ? '&' : '?';
      const seen: string[] = [];
      let next: string | undefined = `${path}${joint}limit=2`;
      while (next !== undefined) {
        const { status, body, headers } = await setup.service.call('GET', next);
        expect(status).toBe(200);
        expect(body.pagination).toMatchObject({ total: ids.length, limit: 2, offset: seen.length });
        seen.push(...(body.data as Answer['body'][]).map(idOf));
        next = /^<(.+)>; rel="next"$/.exec(headers['link'] ?? '')?.[1];
      }
      expect(seen).toEqual([...ids].reverse());
    });

    it('have 20 entries at offset 0 where nothing else is asked for', async () => {
      const { path } = await fill(1);
      expect((await setup.service.call('GET', path)).body.pagination).toMatchObject({ limit: 20, offset: 0 });
    });

    it('are empty beyond the end', async () => {
      const { path, ids } = await fill(1);
      const { body, headers } = await setup.service.call('GET', `${path}${path.includes('?') ? '&' : '?'}offset=1000`);
      expect(body).toEqual({ data: [], pagination: { total: ids.length, limit: 20, offset: 1000 } });
      expect(headers).not.toHaveProperty('link');
    });
  });

  describe('400', () => {
    it.each(['limit=0', 'limit=101', 'limit=1e1', 'offset=-1', 'limit=2&limit=3', 'unknown=1'])(
      'refuses %s',
      async (query) => {
        const { path } = await fill(0);
        const { status, body } = await setup.service.call(
          'GET',
          `${path}${path.includes('?') ? '&' : '?'}${query}`,
          query === 'limit=1e1' ? { differs: 'integer-spelling' } : {},
        );
        expect(status).toBe(400);
        expect(body.type).toBe(problem('invalid-request'));
      },
    );
  });
}
