import { openSession, takeSignedIn, takeSignInToken, type OpenedSession } from './session.ts';

takeSignedIn();

/** The session as the page finds it. `main.tsx` imports this first, so that it is asked for before all else begins. */
export const opening: Promise<OpenedSession> = openSession(takeSignInToken());
