import type { Role } from './roles.ts';
import type { Clock } from '../../base/runtime/clock.ts';
import { SecretUnreadableError, type Sealed, type SecretBox } from '../../base/secrets/secret-box.ts';
import { hashSecret } from '../api-keys/api-keys.ts';
import type { Author } from '../audit/author.ts';
import type { SessionName } from '../sessions/session-cookie.ts';
import { readGroups, type Claims, type Groups } from './groups.ts';
import type { Checks, Confirmed, Issuer } from './issuer.ts';
import { idOfPerson, type People, type SignInRequest } from './people.ts';
import type { Identity, Person, PersonSession } from './person.ts';
import type { PersonStore } from './person-store.ts';
import { SignInRefusal } from './sign-in-refusal.ts';

/** What the browser keeps, sealed, while its person is at the issuer. */
interface Transaction extends Checks {
  /** Where to go afterwards: a path of the service. */
  readonly to: string;
  /** In milliseconds since the epoch. */
  readonly endsAt: number;
  /** The session of this browser before the sign-in, which ends with it. */
  readonly former?: SessionName | undefined;
}

/** Sign-in by OpenID Connect. Every method can throw a `SignInRefusal`. */
export interface Oidc {
  /**
   * Begins a sign-in.
   * @param to where to go afterwards; the dashboard unless it is a path of the service
   * @returns where to send the browser, and what it keeps until it comes back with this state
   */
  begin(
    to: string | undefined,
    former: SessionName | undefined,
  ): Promise<{ readonly location: string; readonly state: string; readonly sealed: Sealed }>;
  /**
   * Finishes a sign-in.
   * @param search the query of the address that the issuer sent the browser to
   * @param sealed what the browser has kept
   */
  finish(search: string, sealed: string | undefined, request: SignInRequest): Promise<FinishedSignIn>;
  /**
   * Lets a sign-in that goes on in the same browser end the session that another one has made.
   * @param sealed what the browser has kept of it
   * @returns what it keeps from now on, and for how many milliseconds; undefined if this sign-in cannot be finished
   */
  follow(sealed: string, session: SessionName): { readonly sealed: Sealed; readonly remainingMs: number } | undefined;
  /** Signs out whom the issuer has signed out. @param token the logout token, which counts once */
  signOut(token: string, request: SignInRequest): Promise<void>;
}

export interface FinishedSignIn {
  readonly person: Person;
  readonly session: PersonSession;
  readonly to: string;
  readonly former: SessionName | undefined;
}

export interface OidcOptions {
  readonly issuer: Issuer;
  /** What pages call the issuer. */
  readonly name: string;
  /** Where the issuer sends the browser back to. */
  readonly redirectUri: string;
  readonly rolesClaim: string;
  /** The roles of each group. */
  readonly rolesOfGroups: ReadonlyMap<string, Role>;
  /** The role of those who are in none of these groups; undefined: they are refused. */
  readonly defaultRole: Role | undefined;
  readonly people: Pick<People, 'signIn' | 'signOutAtIssuer' | 'loseRoles' | 'recordRefusal'>;
  readonly store: Pick<PersonStore, 'useOnce' | 'isUsed'>;
  readonly secrets: SecretBox;
  readonly clock: Clock;
}

/** Time for a sign-in at the issuer, in milliseconds. */
export const transactionMs = 10 * 60_000;
/** Allowance for the clocks of other processes, in milliseconds. */
const marginMs = 10 * 60_000;
/** What the sealed text is for. */
const purpose = 'oidc/transaction';
const home = '/dashboard';

export function createOidc(options: OidcOptions): Oidc {
  const { issuer, name, redirectUri, rolesClaim, rolesOfGroups, defaultRole, people, store, secrets, clock } = options;

  const open = (sealed: string | undefined): Transaction => {
    const transaction = sealed === undefined ? undefined : unseal(sealed);
    if (transaction === undefined) {
      throw refused('This browser has not begun this sign-in, or its cookie was removed. Sign in again.');
    }
    if (transaction.endsAt <= clock.now().getTime()) {
      throw refused('The sign-in has taken longer than 10 minutes. Sign in again.');
    }
    return transaction;
  };
  const seal = (transaction: Transaction): Sealed => secrets.seal(JSON.stringify(transaction), purpose);
  const unseal = (sealed: string): Transaction | undefined => {
    try {
      return JSON.parse(secrets.open(sealed as Sealed, purpose)) as Transaction;
    } catch (error) {
      if (error instanceof SecretUnreadableError) return undefined;
      throw error;
    }
  };

  const groupsOf = async ({ claims, userInfo }: Confirmed): Promise<Groups> => {
    const isKnown = (group: string): boolean => rolesOfGroups.has(group);
    const groups = readGroups(claims, rolesClaim, isKnown);
    return groups === 'absent' ? readGroups(await userInfo(), rolesClaim, isKnown) : groups;
  };

  /** Empty if none of the groups has a role. */
  const rolesFor = (groups: Groups): readonly Role[] => {
    if (groups === 'left-out') {
      throw new SignInRefusal(
        403,
        'Too many groups',
        `${name} does not name your groups, because there are too many. Ask the operator to use app roles for this service (OIDC_ROLES_CLAIM=roles).`,
        'the issuer left out the groups: use app roles',
        'too-many-groups',
      );
    }
    if (groups === 'not-understood') {
      throw new SignInRefusal(
        403,
        'Groups not understood',
        `${name} names your groups in a form that this service does not understand. Ask the operator: the claim of OIDC_ROLES_CLAIM must be a list of texts, or one text with one group.`,
        `the claim ${rolesClaim} is neither a list of texts nor one text with one group`,
        'groups-not-understood',
      );
    }
    const found = groups === 'absent' ? [] : groups.flatMap((group) => rolesOfGroups.get(group) ?? []);
    if (found.length > 0) return [...new Set(found)].sort();
    if (defaultRole !== undefined) return [defaultRole];
    return [];
  };
  const withoutRole = (person: string): SignInRefusal => {
    const names = [...rolesOfGroups.keys()].map((group) => `"${group}"`).join(', ');
    const text = `Your account is in no group that may sign in here. These groups may: ${names}. Ask the administrator of ${name} to add you to one of them, then sign in again.`;
    return new SignInRefusal(403, 'No role', text, `the person ${person} is in no group with a role`, 'no-role');
  };
  const ofIssuer = { kind: 'system' as const, id: 'oidc', name };
  const refusing = (request: SignInRequest): Author => ({
    ...request,
    operationId: 'refuseSignIn',
    principal: ofIssuer,
  });

  /** Signs in whom the issuer has confirmed. */
  const admit = async (
    confirmed: Confirmed,
    request: SignInRequest,
  ): Promise<Omit<FinishedSignIn, 'to' | 'former'>> => {
    const { iss, sub } = confirmed.claims;
    const roles = rolesFor(await groupsOf(confirmed));
    if (roles.length === 0) {
      await people.loseRoles({ issuer: iss, subject: sub }, refusing(request));
      throw withoutRole(idOfPerson({ issuer: iss, subject: sub }));
    }
    const { person, session } = await people.signIn(
      {
        identity: identityOf(confirmed.claims, roles),
        sid: confirmed.sid,
        idToken: confirmed.idToken,
      },
      request,
    );
    if (session === undefined) {
      const text = 'Your account is disabled in this service. Ask an administrator of the service.';
      throw new SignInRefusal(403, 'Account disabled', text, `the person ${person.id} is disabled`, 'disabled');
    }
    return { person, session };
  };

  const finish = async (transaction: Transaction, search: string, request: SignInRequest): Promise<FinishedSignIn> => {
    const callback = new URL(redirectUri);
    callback.search = search;
    if (callback.searchParams.get('state') !== transaction.state) {
      throw refused('This is the answer to another sign-in. Sign in again.');
    }
    const until = new Date(transaction.endsAt + marginMs);
    if (!(await store.useOnce(`state/${hashSecret(transaction.state)}`, until))) {
      throw refused('This sign-in was used before. Sign in again.');
    }
    const confirmed = await issuer.finish(callback, transaction);
    const admitted = await admit(confirmed, request).catch(async (error: unknown) => {
      if (error instanceof SignInRefusal && error.recordedAs !== undefined) {
        await people.recordRefusal(identityOf(confirmed.claims, []), error.recordedAs, refusing(request));
      }
      throw error;
    });
    return { ...admitted, to: transaction.to, former: transaction.former };
  };

  return {
    async begin(to, former) {
      const { location, checks } = await issuer.begin(redirectUri);
      const endsAt = clock.now().getTime() + transactionMs;
      const transaction: Transaction = { ...checks, to: safePath(to), endsAt, former };
      return { location: location.href, state: checks.state, sealed: seal(transaction) };
    },
    async finish(search, sealed, request) {
      const transaction = open(sealed);
      return await counted(() => finish(transaction, search, request));
    },
    follow(sealed, former) {
      const transaction = unseal(sealed);
      const remainingMs = (transaction?.endsAt ?? 0) - clock.now().getTime();
      return transaction === undefined || remainingMs <= 0
        ? undefined
        : { sealed: seal({ ...transaction, former }), remainingMs };
    },
    signOut: (token, request) =>
      counted(async () => {
        const { jti, ...named } = await issuer.verifyLogout(token);
        const use = `jti/${hashSecret(jti)}`;
        if (await store.isUsed(use)) {
          throw new SignInRefusal(
            400,
            'Not signed out',
            'The logout token was used before.',
            'a logout token was repeated',
          );
        }
        await people.signOutAtIssuer(named, { ...request, principal: ofIssuer });
        // Afterwards: the issuer can repeat what has failed.
        await store.useOnce(use, new Date(clock.now().getTime() + marginMs));
      }),
  };
}

/** Whoever sends what is refused has to wait after some of it, but not because the issuer is away. */
async function counted<Result>(work: () => Promise<Result>): Promise<Result> {
  return await work().catch((error: unknown) => {
    if (error instanceof SignInRefusal && error.status !== 503) error.isCounted = true;
    throw error;
  });
}

function refused(text: string): SignInRefusal {
  return new SignInRefusal(400, 'Not signed in', text);
}

/** A path of this service without a fragment; else the dashboard. Browsers take `//` and `/\` for the beginning of a host. */
function safePath(to: string | undefined): string {
  return to !== undefined && /^\/(?![/\\])[!"$-~]{0,1000}$/.test(to) ? to : home;
}

/** The most characters of a name. */
const longestName = 100;

function identityOf(claims: Confirmed['claims'], roles: readonly Role[]): Identity {
  const { iss: issuer, sub: subject } = claims;
  const email = textOf(claims, 'email', 254);
  const name = textOf(claims, 'name', longestName) ?? textOf(claims, 'preferred_username', longestName) ?? email;
  return { issuer, subject, name: name ?? textOf(claims, 'sub', longestName) ?? 'Person', email, roles };
}

/** Without control characters, which can change how a log or a page is read. */
function textOf(claims: Claims, name: string, longest: number): string | undefined {
  const value = claims[name];
  if (typeof value !== 'string') return undefined;
  const text = value
    .replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim()
    .slice(0, longest)
    .toWellFormed();
  return text === '' ? undefined : text;
}
