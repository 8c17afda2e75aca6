import { describe, expect, it } from '@jest/globals';
import { createIntegration, describeMissing, eventually, sendTest, setUpIntegrations } from './integrations-harness.ts';

const setup = setUpIntegrations();

describe('200', () => {
  it('shows replays and resends in the form of getReplay, the newest first, and filters by status', async () => {
    const integration = await createIntegration(setup.service);
    const list = `${integration.path}/replays`;
    const idsOf = async (query = ''): Promise<string[]> => {
      const { body } = await setup.service.call('GET', `${list}${query}`);
      expect(body.pagination.total).toBe(body.data.length);
      return (body.data as { id: string }[]).map(({ id }) => id);
    };
    await setup.service.call('POST', `${integration.path}/pause`);
    const { id: delivery } = await sendTest(setup.service, integration);
    const begun = await setup.service.call('POST', list, { body: { since: '2026-01-01' } });
    const resent = await setup.service.call('POST', `/api/v1/deliveries/${delivery}/resend`);
    const [span, resend] = [begun.body.id as string, resent.body.replay_id as string];
    expect(await idsOf()).toEqual([resend, span]);
    // While the integration is paused, only the resend is done.
    expect(await idsOf('?status=done')).toEqual([resend]);
    expect(await idsOf('?status=running')).toEqual([span]);
    const { body } = await setup.service.call('GET', list);
    for (const replay of body.data) {
      expect(replay).toEqual((await setup.service.call('GET', `/api/v1/replays/${replay.id}`)).body);
    }
    await setup.service.call('POST', `${integration.path}/enable`);
    await eventually(setup.service, `/api/v1/replays/${span}`, ({ status }) => status === 'done');
    expect(await idsOf('?status=running')).toEqual([]);
  });

  it('needs only `integrations:read`', async () => {
    const { path } = await createIntegration(setup.service);
    const key = await setup.service.createKey('integrations:read');
    expect((await setup.service.call('GET', `${path}/replays`, { key })).status).toBe(200);
    expect((await setup.service.call('POST', `${path}/replays`, { key, body: { since: '2026-01-01' } })).status).toBe(
      403,
    );
  });

  it('contains no replays of other integrations', async () => {
    const [one, other] = [await createIntegration(setup.service), await createIntegration(setup.service)];
    await setup.service.call('POST', `${other.path}/replays`, { body: { since: '2026-01-01' } });
    expect((await setup.service.call('GET', `${one.path}/replays`)).body.data).toEqual([]);
  });
});

describe('400', () => {
  it.each(['status=other', 'status=failed', 'since=2026-01-01'])('refuses %s', async (query) => {
    const { path } = await createIntegration(setup.service);
    expect((await setup.service.call('GET', `${path}/replays?${query}`)).status).toBe(400);
  });
});

describeMissing(setup, { method: 'GET', suffix: '/replays' });
