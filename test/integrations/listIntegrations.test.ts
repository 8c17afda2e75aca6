import { describe, expect, it } from '@jest/globals';
import { describePaging } from '../catalog/catalog-harness.ts';
import { createIntegration, path, secret, setUpIntegrations } from './integrations-harness.ts';

const setup = setUpIntegrations();
const ids: string[] = [];

describe('200', () => {
  it('shows integrations as GET does, without secrets', async () => {
    const { id, body, path: own } = await createIntegration(setup.service, { secret });
    ids.push(id);
    const { status, body: page, text } = await setup.service.call('GET', path);
    expect(status).toBe(200);
    expect(page.data[0]).toEqual(body);
    expect(page.data[0]).toEqual((await setup.service.call('GET', own)).body);
    expect(text).not.toContain(secret);
  });
});

describePaging(setup, async (count) => {
  for (let made = 0; made < count; made += 1) ids.push((await createIntegration(setup.service)).id);
  return { path, ids };
});
