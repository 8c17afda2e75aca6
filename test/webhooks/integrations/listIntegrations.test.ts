import { describe, expect, it } from '@jest/globals';
import { createIntegration, path, secret, setUpIntegrations } from './integrations-harness.ts';

const setup = setUpIntegrations();
const ids: string[] = [];

describe('200', () => {
  it('shows integrations in the form of getIntegration, without secrets', async () => {
    const { id, body, path: own } = await createIntegration(setup.service, { secret });
    ids.push(id);
    const { status, body: page, text } = await setup.service.call('GET', path);
    expect(status).toBe(200);
    expect(page.data[0]).toEqual(body);
    expect(page.data[0]).toEqual((await setup.service.call('GET', own)).body);
    expect(text).not.toContain(secret);
  });
});

describe('200 with a status', () => {
  it('lists the integrations with this status', async () => {
    const { id, path: own } = await createIntegration(setup.service);
    const idsOf = async (status: string): Promise<string[]> => {
      const { body } = await setup.service.call('GET', `${path}?status=${status}`);
      const found = body.data as { id: string; status: string }[];
      expect(body.pagination.total).toBe(found.length);
      expect(found.filter((integration) => integration.status !== status)).toEqual([]);
      return found.map((integration) => integration.id);
    };
    expect(await idsOf('active')).toContain(id);
    await setup.service.call('POST', `${own}/pause`);
    expect(await idsOf('paused')).toEqual([id]);
    expect(await idsOf('active')).not.toContain(id);
    expect(await idsOf('disabled')).toEqual([]);
  });
});

describe('400', () => {
  it.each(['status=other', 'status=held'])('refuses %s', async (query) => {
    expect((await setup.service.call('GET', `${path}?${query}`)).status).toBe(400);
  });
});
