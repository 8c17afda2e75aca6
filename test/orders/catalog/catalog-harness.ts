import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { problem, type Setup } from '../../support/per-operation.ts';
import type { Answer, TestService } from '../../support/service.ts';

export const unknownId = '00000000-0000-4000-8000-000000000000';
export const uuidForm = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** A created resource with its entity tag. */
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
  return { name: 'Canal Café', currency: 'EUR', time_zone: 'Europe/Amsterdam', ...members };
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

/** Creates a location with a category. */
export async function createCatalog(
  service: TestService,
  members: Record<string, unknown> = {},
): Promise<{ location: Created; category: Created }> {
  const location = await createLocation(service, members);
  return { location, category: await createCategory(service, location.id) };
}

/** Waits until changes have a later time than this. */
export async function passed(time: string): Promise<void> {
  while (Date.now() <= Date.parse(time)) await sleep(1);
}

/** Tests that lists leave out archived resources unless the caller asks for them. */
export function describeArchived(setup: Setup, path: string, make: () => Promise<Created>): void {
  describe('archived', () => {
    it('is left out unless the caller asks for it, and can be read, listed and unarchived', async () => {
      const ids = async (query: string): Promise<string[]> => {
        const { body } = await setup.service.call('GET', `${path}?limit=100${query}`);
        return (body.data as { id: string }[]).map(({ id }) => id);
      };
      const [kept, archived] = [await make(), await make()];
      const one = `${path}/${archived.id}`;
      const { status, body } = await setup.service.call('PUT', one, { body: { archived: true } });
      expect([status, body]).toEqual([200, { ...archived.body, archived: true, updated_at: body.updated_at }]);
      for (const query of ['', '&archived=exclude']) {
        expect(await ids(query)).toContain(kept.id);
        expect(await ids(query)).not.toContain(archived.id);
      }
      expect(await ids('&archived=include')).toEqual(expect.arrayContaining([kept.id, archived.id]));
      expect(await ids('&archived=only')).toContain(archived.id);
      expect(await ids('&archived=only')).not.toContain(kept.id);
      expect((await setup.service.call('GET', one)).body).toEqual(body);
      expect((await setup.service.call('GET', `${path}?archived=yes`)).status).toBe(400);
      await setup.service.call('PUT', one, { body: { archived: false } });
      expect(await ids('')).toContain(archived.id);
    });
  });
}

/** Tests of `Idempotency-Key` that are the same for all operations that create. */
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

    it('is refused with a different body', async () => {
      const { path, body, other } = await prepare();
      const headers = { 'Idempotency-Key': randomUUID() };
      await setup.service.call('POST', path, { body, headers });
      const { status, body: answer } = await setup.service.call('POST', path, { body: other, headers });
      expect(status).toBe(422);
      expect(answer.type).toBe(problem('idempotency-key-reused'));
    });
  });
}

/** Tests of an operation that reads one resource of the catalog by its id. */
export function describeGet(
  setup: Setup,
  { creation, path, missingId, missing }: Readonly<Record<'creation' | 'path' | 'missingId' | 'missing', string>>,
  make: () => Promise<Created>,
): void {
  const get = (id: string, headers: Record<string, string> = {}): Promise<Answer> =>
    setup.service.call('GET', `${path}/${id}`, { headers });

  describe('200', () => {
    it(`gives the same answer as ${creation}`, async () => {
      const { id, etag, body } = await make();
      const answer = await get(id);
      expect(answer.status).toBe(200);
      expect(answer.body).toEqual(body);
      expect(answer.headers['etag']).toBe(etag);
    });
  });

  describe('304', () => {
    it('is the answer to a caller that has it', async () => {
      const { id, etag } = await make();
      const { status, text } = await get(id, { 'If-None-Match': etag });
      expect([status, text]).toEqual([304, '']);
    });
  });

  describe('400', () => {
    it('refuses an invalid id', async () => {
      const { status, body } = await get('nonsense');
      expect(status).toBe(400);
      expect(body.errors).toMatchObject([{ parameter: 'id' }]);
    });
  });

  describe('404', () => {
    it('says that it does not exist', async () => {
      const { status, body } = await get(missingId);
      expect([status, body.type]).toEqual([404, problem(missing)]);
    });
  });
}
