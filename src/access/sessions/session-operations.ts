import type { ApiKeys } from '../api-keys/api-keys.ts';
import { currentApiKey } from '../api-keys/api-key-representation.ts';
import type { OperationHandlers } from '../../http/operation.ts';
import type { Sessions } from './sessions.ts';

export function sessionOperations(
  sessions: Sessions,
  apiKeys: ApiKeys,
  version: string,
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
      if (sessionId !== undefined)
        await sessions.end({ id: sessionId, ...(kind === 'person' && { isPersons: true }) }, context);
      const cookie = sessions.cookieOf(undefined, context.caller);
      return { status: 200, headers: { 'Set-Cookie': cookie }, body: { ok: true } };
    },
  };
}
