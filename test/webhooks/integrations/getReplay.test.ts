import { describe, expect, it } from '@jest/globals';
import { unknownId } from '../../orders/catalog/catalog-harness.ts';
import { problem } from '../../support/per-operation.ts';
import { createIntegration, eventually, setUpIntegrations } from './integrations-harness.ts';

const setup = setUpIntegrations();

const begin = async (): Promise<{ path: string; integration: string }> => {
  const { path: integration } = await createIntegration(setup.service);
  const { headers } = await setup.service.call('POST', `${integration}/replays`, { body: { since: '2026-01-01' } });
  return { path: headers['location'] ?? '', integration };
};

describe('200', () => {
  it('shows when the replay was finished', async () => {
    const { path } = await begin();
    const { body, headers } = await eventually(setup.service, path, ({ status }) => status === 'done');
    expect(body).toMatchObject({ since: '2026-01-01T00:00:00.000Z', delivery_count: 0, progress: 1 });
    expect(Date.parse(body.finished_at)).toBeGreaterThanOrEqual(Date.parse(body.created_at));
    const known = { 'If-None-Match': headers['etag'] ?? '' };
    expect((await setup.service.call('GET', path, { headers: known })).status).toBe(304);
  });

  it('waits while the integration is paused', async () => {
    const { path: integration } = await createIntegration(setup.service);
    await setup.service.call('POST', `${integration}/pause`);
    const { headers } = await setup.service.call('POST', `${integration}/replays`, { body: { since: '2026-01-01' } });
    const path = headers['location'] ?? '';
    expect((await setup.service.call('GET', path)).body).toMatchObject({ status: 'running', progress: 0 });
    await setup.service.call('POST', `${integration}/enable`);
    await eventually(setup.service, path, ({ status }) => status === 'done');
  });
});

describe('progress', () => {
  it('is the share of the span up to the last event that was sent again', async () => {
    const { path: integration } = await createIntegration(setup.service);
    await setup.service.call('POST', `${integration}/pause`);
    const span = { since: '2026-01-01T00:00:00Z', until: '2026-01-01T01:00:00Z' };
    const { headers, body } = await setup.service.call('POST', `${integration}/replays`, { body: span });
    expect(body.progress).toBe(0);
    await setup.database.db
      .collection<{ _id: string }>('replays')
      .updateOne(
        { _id: body.id as string },
        { $set: { cursor_created_at: new Date('2026-01-01T00:15:00Z'), cursor_id: unknownId } },
      );
    expect((await setup.service.call('GET', headers['location'] ?? '')).body.progress).toBe(0.25);
  });
});

describe('400', () => {
  it('refuses an invalid id', async () => {
    expect((await setup.service.call('GET', '/api/v1/replays/first')).status).toBe(400);
  });
});

describe('404', () => {
  it('says that the replay does not exist', async () => {
    const { status, body } = await setup.service.call('GET', `/api/v1/replays/${unknownId}`);
    expect([status, body.type]).toEqual([404, problem('replay-not-found')]);
  });

  it('does not show replays of a deleted integration', async () => {
    const { path, integration } = await begin();
    expect((await setup.service.call('DELETE', integration)).status).toBe(200);
    const { status, body } = await setup.service.call('GET', path);
    expect([status, body.type]).toEqual([404, problem('replay-not-found')]);
  });
});
