import { createContext, use } from 'react';
import type { CurrentKey, Scope } from './session.ts';

/** Who is signed in. */
export interface Session {
  key: CurrentKey;
  /** Ends the session and shows the sign-in page. */
  signOut: () => void;
}

export const SessionContext: React.Context<Session | undefined> = createContext<Session | undefined>(undefined);

/** Who is signed in. Every screen is shown to someone who is. */
export function useSession(): Session {
  const session = use(SessionContext);
  if (session === undefined) throw new Error('There is no session around this component.');
  return session;
}

/** Whether the key reaches every prompt, model and location. */
export function useReachesAll(): boolean {
  return reachesAll(useSession().key);
}

export function reachesAll({ limits }: CurrentKey): boolean {
  return limits?.prompts === undefined && limits?.models === undefined && limits?.locations === undefined;
}

/** Whether the cases of data sets are shown, wherever they stand: not to a key that is limited to some prompts. */
export function useSeesCases(): boolean {
  const { scopes, limits } = useSession().key;
  return scopes.includes('datasets:read') && limits?.prompts === undefined;
}

/** Whether the signed-in key may do what this scope allows. The service decides; this is for what is shown. */
export function useScope(scope: Scope): boolean {
  return useSession().key.scopes.includes(scope);
}
