import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createAuditStore } from '../../../src/access/audit/audit-store.ts';
import type { AuditDocument } from '../../../src/storage/db/audit.ts';
import { createInvocationId } from '../../../src/accounting/invocations/invocation-id.ts';
import { dayMs } from '../../../src/base/runtime/intervals.ts';
import { createInvocationStore } from '../../../src/accounting/invocations/invocation-store.ts';
import type { PagedDatabase } from '../../../src/storage/db/pages.ts';
import { withPlainPages } from '../../../src/storage/db/plain-pages.ts';
import { readPage } from '../../../src/base/lists/listing.ts';
import type { InvocationDocument } from '../../../src/accounting/invocations/invocation.ts';
import { openDatabase, testDatabaseUri } from '../../support/database.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { until } from '../../support/until.ts';

/** Of each day, several windows on a server that is read by these. */
const perDay = 4_400;
const today = Date.now() - (Date.now() % dayMs);
const days = [today - 3 * dayMs, today - 2 * dayMs, today - dayMs];
const [rare, usual, other] = [randomUUID(), randomUUID(), randomUUID()];

let service: TestService;
let database: PagedDatabase;
/** The ids of the records of a key, the newest first. */
const idsOf = new Map<string, string[]>();
let times: readonly string[];
beforeAll(async () => {
  const MONGODB_DATABASE = `test_${randomUUID().slice(0, 8)}`;
  service = await startTestService({ environment: { MONGODB_DATABASE } });
  database = await openDatabase(testDatabaseUri(), MONGODB_DATABASE);
  const store = createInvocationStore(database);
  const documents = days.flatMap((day) =>
    Array.from({ length: perDay }, (_, index): InvocationDocument => {
      const at = new Date(day + Math.floor(index / 2) * 15_000);
      // Of each day, 100 records are of the usual key, and 7 of the rare one.
      const keyId = index % 44 === 0 ? usual : index % 700 === 1 ? rare : other;
      return {
        _id: createInvocationId(at, randomUUID()),
        created_at: at,
        operation: 'invoke',
        status: 'succeeded',
        author: { type: 'key', id: keyId, name: 'Key' },
        request_id: randomUUID(),
        streamed: false,
        cached: false,
        provider: 'mock',
        model: 'model-a',
        attempts: [{ provider: 'mock', model: 'model-a', status: 'succeeded', started_at: at }],
      };
    }),
  );
  for (let from = 0; from < documents.length; from += 1_000) await store.insert(documents.slice(from, from + 1_000));
  times = documents.map(({ created_at }) => created_at.toISOString());
  const newest = documents.toSorted(
    (a, b) => b.created_at.getTime() - a.created_at.getTime() || (a._id < b._id ? -1 : 1),
  );
  for (const key of [rare, usual, other]) {
    idsOf.set(
      key,
      newest.filter(({ author }) => author.id === key).map(({ _id }) => _id),
    );
  }
  idsOf.set(
    '',
    newest.map(({ _id }) => _id),
  );
}, 120_000);
afterAll(async () => {
  await database.close();
  await service.close();
});

interface Listed {
  readonly data: readonly { readonly id: string }[];
  readonly pagination: { readonly total: number; readonly total_is_minimum?: boolean; readonly next: string | null };
}

async function list(query: string): Promise<Listed> {
  const { status, body } = await service.call('GET', `/api/v1/invocations?${query}`);
  expect(status).toBe(200);
  return body as unknown as Listed;
}

describe('200, with thousands of records a day', () => {
  it('the total of a key with few of them is exact', async () => {
    // A machine that is too busy counts only a part, and says so.
    const totalOf = async (query: string): Promise<number> =>
      (
        await until(
          () => list(query),
          ({ pagination }) => pagination.total_is_minimum === undefined,
        )
      ).pagination.total;
    expect(await totalOf(`author_id=${rare}&limit=5`)).toBe(21);
    expect(await totalOf(`author_id=${usual}`)).toBe(300);
    expect(await totalOf(`author_id=${usual}&model=model-a`)).toBe(300);
    expect(await totalOf(`since=${new Date(today - dayMs).toISOString()}`)).toBe(perDay);
  });

  it('the total of more than 10,000 is a minimum, and says so', async () => {
    const { total, total_is_minimum } = (await list('')).pagination;
    expect([total_is_minimum, total >= 20, total <= 10_000]).toEqual([true, true, true]);
    const far = await list('offset=10000&limit=100');
    expect(far.pagination).toMatchObject({ total: 10_100, total_is_minimum: true });
    expect(far.data.map(({ id }) => id)).toEqual(idsOf.get('')?.slice(10_000, 10_100));
  });

  it.each([0, 99, 100, 120, 150, 199, 200, 250, 299])(
    'an offset of %d skips so many, also whole days',
    async (offset) => {
      const { data } = await list(`author_id=${usual}&offset=${offset}&limit=2`);
      expect(data.map(({ id }) => id)).toEqual(idsOf.get(usual)?.slice(offset, offset + 2));
    },
  );

  it.each([300, 399, 10_000])('an offset of %d is behind the end', async (offset) => {
    expect((await list(`author_id=${usual}&offset=${offset}`)).data).toEqual([]);
  });

  it('an offset of all records skips whole days', async () => {
    for (const offset of [perDay - 1, perDay, perDay + 3, 10_000]) {
      const { data } = await list(`offset=${offset}&limit=3`);
      expect(data.map(({ id }) => id)).toEqual(idsOf.get('')?.slice(offset, offset + 3));
    }
  });

  it('`after` leads through all records once', async () => {
    const seen: string[] = [];
    for (let after = ''; ;) {
      const { data, pagination } = await list(`author_id=${usual}&limit=100${after}`);
      seen.push(...data.map(({ id }) => id));
      if (pagination.next === null) break;
      after = `&after=${pagination.next}`;
    }
    expect(seen).toEqual(idsOf.get(usual));
  });
});

it('offsets skip as many on a server that reads in the order of an index', async () => {
  const log = createInvocationStore(withPlainPages(database)).list({ authorId: usual });
  for (const offset of [99, 100, 120, 150, 199, 250, 299, 399]) {
    const { data } = await readPage(log, { offset }, 2, ({ _id }) => _id);
    expect(data).toEqual(idsOf.get(usual)?.slice(offset, offset + 2));
  }
});

it('the sums of costs have all records, or say until when', async () => {
  const { status, body } = await service.call('GET', '/api/v1/costs');
  expect(status).toBe(200);
  const end = (body.added_up_until as string | undefined) ?? new Date().toISOString();
  // Two records have the same time.
  const [before, until] = [times.filter((at) => at < end), times.filter((at) => at <= end)];
  expect(body.total.calls).toBeGreaterThanOrEqual(before.length);
  expect(body.total.calls).toBeLessThanOrEqual(until.length);
});

it('the total of the audit log is exact for a key with few of its records', async () => {
  const records = database.db.collection<AuditDocument>('audit_log');
  const documents = Array.from({ length: perDay }, (_, index) => ({
    _id: randomUUID(),
    at: new Date((days[0] ?? 0) + index * 1_000),
    author: { type: 'key', id: index % 700 === 0 ? rare : other, name: 'Key' },
  })) as unknown as AuditDocument[];
  for (let from = 0; from < perDay; from += 1_000) await records.insertMany(documents.slice(from, from + 1_000));
  const filter = {
    since: undefined,
    until: undefined,
    operation: undefined,
    resourceType: undefined,
    resourceId: undefined,
    requestId: undefined,
  };
  expect(
    await createAuditStore(database)
      .list({ ...filter, authorId: rare })
      .total(),
  ).toBe(7);
});
