/** Reading data sets, adding cases, and deleting them. */
import { describe, expect, it } from '@jest/globals';
import type { Scope } from '../../../../generated/operations.ts';
import { PromptGateway } from '../../../../clients/typescript/src/index.ts';
import { problem, setUp } from '../../../support/per-operation.ts';
import type { Answer, CallOptions } from '../../../support/service.ts';
import { datasetsPath, setDataset } from './datasets-harness.ts';

const setup = setUp();
const call = (method: string, path: string, options: CallOptions = {}): Promise<Answer> =>
  setup.service.call(method, `${datasetsPath}${path}`, options);
const set = (name: string, lines: readonly string[]) => setDataset(setup.service, name, lines);
const idsOf = ({ body }: Answer): string[] => body.data.map(({ id }: { id: string }) => id);

const expectMissing = async (path: string, type: string): Promise<void> => {
  const { status, body } = await call('GET', path);
  expect([status, body.type]).toEqual([404, problem(type)]);
};
const expectScope = async (path: string): Promise<void> => {
  await set('scoped', ['{}']);
  const statuses = ['datasets:read', 'datasets:write'].map(async (scope) => {
    const key = await setup.service.createKey(scope as Scope);
    return (await call('GET', path, { key })).status;
  });
  expect(await Promise.all(statuses)).toEqual([200, 403]);
};
const whole = {
  ...{ id: 'a', expected: { n: 1 }, checks: [{ type: 'equals', value: 'x' }] },
  ...{ tags: ['t'], group: 'g' },
};

describe('listDatasets', () => {
  it('200; 403', async () => {
    await set('listed', ['{}']);
    const { body } = await call('GET', '');
    const { body: one } = await call('GET', '/listed');
    expect(body.data).toContainEqual(one);
    await expectScope('');
  });
});

describe('getDataset', () => {
  it('200; 304; 403; 404', async () => {
    await set('read', [JSON.stringify(whole)]);
    const { status, body, headers } = await call('GET', '/read');
    expect([status, body]).toMatchObject([200, { name: 'read', version: 1, author: { id: 'administrator' } }]);
    const again = await call('GET', '/read', { headers: { 'If-None-Match': headers['etag'] ?? '' } });
    expect(again.status).toBe(304);
    await expectScope('/scoped');
    await expectMissing('/absent', 'dataset-not-found');
  });
});

describe('listDatasetVersions', () => {
  it('200; 403; 404', async () => {
    const { body } = await set('versioned', [JSON.stringify(whole)]);
    const { digest, cases, bytes, author, updated_at: created_at } = body;
    const { body: versions } = await call('GET', '/versioned/versions');
    expect(versions.data).toEqual([{ version: 1, digest, cases, bytes, author, created_at }]);
    await expectScope('/scoped/versions');
    await expectMissing('/absent/versions', 'dataset-not-found');
  });
});

describe('listDatasetCases', () => {
  it('200; 403; 404', async () => {
    await set('cases', [JSON.stringify(whole)]);
    const { body } = await call('GET', '/cases/versions/1/cases');
    expect(body).toMatchObject({ data: [whole], pagination: { total: 1, next: null } });
    await expectScope('/scoped/versions/1/cases');
    await expectMissing('/cases/versions/2/cases', 'version-not-found');
    await expectMissing('/absent/versions/1/cases', 'dataset-not-found');
  });
});

describe('exportDatasetCases', () => {
  it('200; 403; 404', async () => {
    await set('exported', [JSON.stringify(whole)]);
    expect((await call('GET', '/exported/versions/1/export')).text).toBe(`${JSON.stringify(whole)}\n`);
    await expectScope('/scoped/versions/1/export');
    await expectMissing('/exported/versions/2/export', 'version-not-found');
    await expectMissing('/absent/versions/1/export', 'dataset-not-found');
  });
});

describe('addDatasetCases', () => {
  const add = (name: string, cases: readonly object[], headers = {}): Promise<Answer> =>
    call('POST', `/${name}/cases`, { body: { cases }, headers });

  it('201 makes one version, which a repetition finds (200)', async () => {
    await set('growing', ['{"id":"a"}']);
    const { status, body, headers: answered } = await add('growing', [{ id: 'b' }, { variables: { n: 1 } }]);
    expect([status, body.version, body.cases]).toEqual([201, 2, 3]);
    expect(answered['location']).toBe(`${datasetsPath}/growing/versions/2/cases`);
    const again = await add('growing', [{ variables: { n: 1 } }, { id: 'b' }]);
    expect([again.status, again.body]).toEqual([200, body]);
    expect(idsOf(await call('GET', '/growing/versions/2/cases')).slice(0, 2)).toEqual(['a', 'b']);
    expect(idsOf(await call('GET', '/growing/versions/1/cases'))).toEqual(['a']);
    // The same cases as a whole are no new version.
    const { text } = await call('GET', '/growing/versions/2/export');
    expect((await set('growing', text.trimEnd().split('\n'))).body.version).toBe(2);
  });

  it('adds those of all callers at once', async () => {
    await set('crowded', ['{"id":"first"}']);
    const answers = await Promise.all(Array.from({ length: 8 }, (_, index) => add('crowded', [{ id: `c${index}` }])));
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(201));
    expect((await call('GET', '/crowded')).body).toMatchObject({ version: 9, cases: 9 });
  });

  it('404 without the data set', async () => {
    const { status, body } = await add('absent', [{}]);
    expect([status, body.type]).toEqual([404, problem('dataset-not-found')]);
  });

  it('412 if it is not as the caller expects', async () => {
    const { headers } = await set('matched', ['{"id":"a"}']);
    const match = { 'If-Match': headers['etag'] ?? '' };
    expect((await add('matched', [{ id: 'b' }], match)).status).toBe(201);
    const { status, body } = await add('matched', [{ id: 'c' }], match);
    expect([status, body.type]).toEqual([412, problem('precondition-failed')]);
  });

  it('422 names what is there already, what is twice, and what is too large or too much', async () => {
    const lines = Array.from({ length: 9_999 }, (_, index) => `{"id":"${index}"}`);
    await set('refusing', lines);
    const large = { variables: { text: 'x'.repeat(262_144) } };
    const { status, body } = await add('refusing', [
      { id: '7', tags: ['other'] },
      { id: '8' },
      { id: 'new' },
      { id: 'new' },
      { id: 'more' },
    ]);
    expect([status, body.type]).toEqual([422, problem('dataset-refused')]);
    expect(body.errors).toEqual([
      { pointer: '#/cases/3/id', detail: 'has the same id as the case at #/cases/2' },
      { pointer: '#/cases/0/id', detail: 'has the same id as another case of the data set' },
      { pointer: '#/cases/4', detail: 'is one more than the 10000 cases of a data set' },
    ]);
    await set('refusing', ['{}']);
    expect((await add('refusing', [large])).body.errors).toEqual([
      { pointer: '#/cases/0', detail: 'has more than 262144 bytes' },
    ]);
    expect((await call('GET', '/refusing')).body.version).toBe(2);
  });

  it('422 if the data set would be larger than 16 MiB', async () => {
    const text = 'x'.repeat(262_000);
    await set(
      'large',
      Array.from({ length: 63 }, (_, index) => JSON.stringify({ id: `${index}`, expected: text })),
    );
    expect((await add('large', [{ id: 'fits', expected: text }])).status).toBe(201);
    const { status, body } = await add('large', [{ id: 'one-more', expected: text }]);
    expect([status, body.errors]).toEqual([422, [{ pointer: '#', detail: 'make the data set larger than 16 MiB' }]]);
    expect((await call('GET', '/large')).body).toMatchObject({ version: 2, cases: 64 });
  });
});

describe('deleteDataset', () => {
  it('200 deletes a data set with its versions, and a later one of the name begins anew', async () => {
    const { body } = await set('doomed', ['{"id":"a"}']);
    await set('doomed', ['{"id":"b"}']);
    expect((await call('DELETE', '/doomed')).status).toBe(200);
    expect((await call('GET', '/doomed')).status).toBe(404);
    const versions = setup.database.db.collection('dataset_versions');
    expect(await versions.countDocuments({ dataset_id: body.id })).toBe(0);
    const again = await set('doomed', ['{"id":"a"}']);
    expect([again.status, again.body.version, again.body.id === body.id]).toEqual([201, 1, false]);
  });

  it('404, 412, 403', async () => {
    expect((await call('DELETE', '/absent')).body.type).toBe(problem('dataset-not-found'));
    await set('guarded', ['{}']);
    const other = await call('DELETE', '/guarded', { headers: { 'If-Match': '"other"' } });
    expect([other.status, other.body.type]).toEqual([412, problem('precondition-failed')]);
    const key = await setup.service.createKey('datasets:read');
    expect((await call('DELETE', '/guarded', { key })).status).toBe(403);
  });
});

describe('the client', () => {
  it('sends lines and reads them', async () => {
    const { url: baseUrl, adminKey: apiKey } = setup.service;
    const { datasets } = new PromptGateway({ baseUrl, apiKey });
    const lines = '{"id":"a","variables":{"text":"é"}}\n{"id":"b"}\n';
    expect(await datasets.set('by-client', lines)).toMatchObject({ version: 1, cases: 2 });
    expect(await datasets.exportCases('by-client', 1)).toBe(lines);
    expect(await datasets.listCases('by-client', 1).toArray({ limit: 9 })).toHaveLength(2);
    const refused = datasets.set('by-client', '{');
    await expect(refused).rejects.toMatchObject({ type: problem('dataset-refused') });
  });
});
