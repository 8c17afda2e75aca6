import type { ApiKeys } from '../api-keys/api-keys.ts';
import { currentApiKey } from '../api-keys/api-key-representation.ts';
import type { OperationHandlers } from '../../http/operation.ts';
import type { Sessions } from './sessions.ts';

/** @param signOutUrl where a browser signs out at the issuer, too; undefined if there is no such page */
export function sessionOperations(
  sessions: Sessions,
  apiKeys: ApiKeys,
  version: string,
  signOutUrl: (idToken: string) => Promise<string | undefined>,
): Pick<OperationHandlers, 'createSession' | 'deleteSession'> {
  return {
    async createSession({ body, context }) {
      const credentials = { apiKey: body.api_key, signInToken: body.sign_in_token };
      const { key, expiresAt, cookie } = await sessions.create(credentials, context);
      const described = await apiKeys.describe(key);
      return {
        status: 201,
        headers: { 'Set-Cookie': cookie },
        body: { api_key: currentApiKey(key, described, version), expires_at: expiresAt.toISOString() },
      };
    },
    async deleteSession({ context }) {
      const { kind, sessionId } = context.principal;
      const isPersons = kind === 'person' && { isPersons: true as const };
      const idToken = sessionId && (await sessions.end({ id: sessionId, ...isPersons }, context));
      const continueAt = idToken && (await signOutUrl(idToken));
      const cookie = sessions.cookieOf(undefined, context.caller);
      const body = { ok: true as const, ...(continueAt && { continue_at: continueAt }) };
      return { status: 200, headers: { 'Set-Cookie': cookie }, body };
    },
  };
}
