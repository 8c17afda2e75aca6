import type * as openidClient from 'openid-client';

/**
 * How this service shows its secret at the token endpoint: by what the issuer says that it takes (OpenID Connect
 * Discovery 1.0, `token_endpoint_auth_methods_supported`). Without a word it takes `client_secret_basic`.
 */
export function authenticationBy(library: typeof openidClient, secret: string): openidClient.ClientAuth {
  const basic = library.ClientSecretBasic(secret);
  const ways: Readonly<Record<string, openidClient.ClientAuth>> = {
    client_secret_basic: basic,
    client_secret_post: library.ClientSecretPost(secret),
    client_secret_jwt: library.ClientSecretJwt(secret),
  };
  return (server, ...rest) => {
    const taken: unknown = server.token_endpoint_auth_methods_supported;
    const [, way] = Object.entries(ways).find(([name]) => Array.isArray(taken) && taken.includes(name)) ?? [];
    return (way ?? basic)(server, ...rest);
  };
}
