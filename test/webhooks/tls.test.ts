import { once } from 'node:events';
import { createServer as createPlainServer } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { createAuthority, createSelfSigned, trust } from '../support/certificates.ts';
import { createIntegration, eventually, sendTest, setUpIntegrations } from './integrations/integrations-harness.ts';

const setup = setUpIntegrations();

const day = 86_400_000;
const host = '127.0.0.1';
const trusted = trust(createAuthority('Example authority'));
const unknown = createAuthority('Unknown authority');
const from = (days: number) => ({ from: new Date(Date.now() + days * day), until: new Date(Date.now() + 9 * day) });
const ended = { from: new Date(Date.now() - 9 * day), until: new Date(Date.now() - day) };

const servers: Server[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => new Promise((resolve) => server.close(resolve))));
});
/** @returns the port of the server */
async function listen(server: Server): Promise<number> {
  servers.push(server);
  server.listen(0, host);
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

const withChain = () => {
  const issued = unknown.issue([host]);
  return { ...issued, cert: issued.cert + unknown.cert };
};

describe('a receiver whose TLS fails', () => {
  it.each([
    ['a self-signed certificate', () => createSelfSigned([host]), { error: 'certificate-self-signed' }],
    ['an expired certificate', () => trusted.issue([host], ended), { error: 'certificate-expired' }],
    ['a certificate of tomorrow', () => trusted.issue([host], from(1)), { error: 'certificate-not-yet-valid' }],
    ['an unknown authority', () => unknown.issue([host]), { error: 'certificate-unknown-issuer' }],
    ['an unknown authority that it sends', withChain, { error: 'certificate-unknown-issuer' }],
    [
      'a certificate for other names',
      () => trusted.issue(['www.example.com', 'example.com', '10.0.0.1']),
      { error: 'certificate-other-name', certificate_names: ['www.example.com', 'example.com', '10.0.0.1'] },
    ],
    [
      'only an old version of TLS',
      () => ({ ...trusted.issue([host]), minVersion: 'TLSv1' as const, maxVersion: 'TLSv1.1' as const }),
      { error: 'tls-failed' },
    ],
  ])('has %s: attempt, delivery and integration say so', async (_what, options, expected) => {
    const port = await listen(createServer(options()));
    const integration = await createIntegration(setup.service, { url: `https://${host}:${port}/hook` });
    const { id } = await sendTest(setup.service, integration);
    const attempts = `/api/v1/deliveries/${id}/attempts`;
    const { body } = await eventually(setup.service, attempts, ({ data }) => data.length > 0);
    expect(body.data[0]).toMatchObject({ succeeded: false, ...expected });
    expect('certificate_names' in body.data[0]).toBe('certificate_names' in expected);
    const { body: shown } = await eventually(
      setup.service,
      integration.path,
      ({ last_error }) => last_error !== undefined,
    );
    expect(shown.last_error.error).toBe(expected.error);
    expect(shown.failing_delivery).toMatchObject(expected);
    const list = `${integration.deliveries}&last_outcome=${expected.error}`;
    expect((await setup.service.call('GET', list)).body.data).toMatchObject([{ id, last_outcome: expected.error }]);
  });

  it('does not speak TLS at all', async () => {
    const port = await listen(createPlainServer());
    const integration = await createIntegration(setup.service, { url: `https://${host}:${port}/hook` });
    await sendTest(setup.service, integration);
    await eventually(setup.service, integration.path, ({ last_error }) => last_error?.error === 'not-tls');
  });

  it('gets deliveries with a certificate that is trusted', async () => {
    const port = await listen(createServer(trusted.issue([host]), (_request, response) => response.end()));
    const integration = await createIntegration(setup.service, { url: `https://${host}:${port}/hook` });
    const { id } = await sendTest(setup.service, integration);
    await eventually(setup.service, `/api/v1/deliveries/${id}`, ({ status }) => status === 'delivered');
  });
});
