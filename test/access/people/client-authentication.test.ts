/** How the service shows its secret to issuers. */
import { expect, it } from '@jest/globals';
import type { ClientAuthMethod } from 'oidc-provider';
import { startIssuer } from './issuer-harness.ts';
import { setUpPeople } from './people-harness.ts';

const setup = setUpPeople();
const [basic, post, jwt] = ['client_secret_basic', 'client_secret_post', 'client_secret_jwt'] as const;

it.each<[registered: ClientAuthMethod, says: unknown]>([
  [basic, undefined],
  [basic, [basic]],
  [basic, [post, jwt, basic]],
  [post, [post]],
  [post, ['private_key_jwt', jwt, post]],
  [jwt, [jwt, 'private_key_jwt']],
  // What says nothing of secrets, or nothing that can be understood.
  [basic, ['private_key_jwt']],
  [basic, []],
  [basic, 'client_secret_basic'],
  [basic, null],
])('%s where the issuer says %j', async (registered, says) => {
  const issuer = await startIssuer(
    [`${setup.service.url}/oidc/callback`],
    { clientAuthMethods: [basic, post, jwt] },
    registered,
  );
  issuer.tamper = (path, { body }) => {
    if (!path.endsWith('/openid-configuration')) return undefined;
    const said = { ...(JSON.parse(body) as object), token_endpoint_auth_methods_supported: says };
    return Promise.resolve({ body: JSON.stringify(said) });
  };
  const service = await setup.startAnother({ OIDC_ISSUER: issuer.url });
  const browser = setup.browser();
  const { url } = await browser.open(`${service.url}/oidc/sign-in`, /\/oidc\/callback/);
  const { status } = await browser.open(url.replace(setup.service.url, service.url), /\/dashboard/);
  await issuer.close();
  expect([status, issuer.authentications]).toEqual([303, [registered]]);
});
