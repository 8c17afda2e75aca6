import { isDeepStrictEqual } from 'node:util';
import type { Scope } from '../../../generated/operations.ts';
import { createEditQueue } from '../../base/editing/edit-queue.ts';
import type { Precondition } from '../../base/editing/edits.ts';
import { ProblemError } from '../../base/errors/problem-error.ts';
import type { Principal } from '../../base/limits/principal.ts';
import type { Listing } from '../../base/lists/listing.ts';
import type { Clock } from '../../base/runtime/clock.ts';
import { deriveUuid } from '../../base/runtime/derived-id.ts';
import type { Random } from '../../base/runtime/random.ts';
import { SecretUnreadableError, type Sealed, type SecretBox } from '../../base/secrets/secret-box.ts';
import { noAuthority } from '../api-keys/no-authority.ts';
import { unauthenticated } from '../api-keys/unauthenticated.ts';
import { auditEntry, type AuditedKind, type Author } from '../audit/author.ts';
import { createLookUps, watchLookUps } from '../look-ups.ts';
import { personFields, type Identity, type Person, type PersonChange, type PersonSession } from './person.ts';
import type { PersonStore } from './person-store.ts';
import type { Role, Roles } from './roles.ts';
import type { SignInRefusal } from './sign-in-refusal.ts';

/** A person who sends a request. */
export interface SignedInPerson extends Principal {
  readonly kind: 'person';
  readonly scopes: ReadonlySet<Scope>;
  readonly roles: readonly Role[];
  readonly sessionId: string;
  readonly sessionEndsAt: Date;
}

/** The request that changes a person. */
interface PersonAuthor extends Author {
  readonly principal: Author['principal'] & Pick<Principal, 'makers'>;
}

/** Who signs in: the request, before there is a principal. */
export type SignInRequest = Omit<Author, 'principal'>;

/** A sign-in that an issuer has confirmed. */
export interface ConfirmedSignIn {
  readonly identity: Identity;
  readonly sid: string | undefined;
  readonly idToken: string;
}

/** People, their sessions, and what they may do. */
export interface People {
  /** Those who signed in for the first time most recently first. */
  list(): Listing<Person>;
  /** @throws {ProblemError} person-not-found */
  get(id: string): Promise<Person>;
  /** Disables or enables a person. Disabling ends all sessions. @throws {ProblemError} person-not-found, precondition-failed, no-authority */
  change(id: string, change: PersonChange, precondition: Precondition<Person>, author: PersonAuthor): Promise<Person>;
  /** Ends all sessions of a person, in all processes within 5 seconds. @throws {ProblemError} person-not-found */
  signOut(id: string, author: Author): Promise<Person>;
  /**
   * Stores who signed in and begins a session, which ends 12 hours later.
   * @returns no session if the person is disabled
   */
  signIn(
    confirmed: ConfirmedSignIn,
    request: SignInRequest,
  ): Promise<{ readonly person: Person; readonly session: PersonSession | undefined }>;
  /**
   * A person without a session, for work that goes on.
   * @throws {ProblemError} unauthenticated if the person is disabled or lacks the scope
   */
  principal(id: string, scope: Scope): Promise<Principal>;
  /** The person of a session, at most 5 seconds old. @throws {ProblemError} unauthenticated if the session has ended */
  identify(sessionId: string): Promise<SignedInPerson>;
  /** The same as it is in the database now. */
  read(sessionId: string): Promise<SignedInPerson>;
  /** Takes all roles from a person whose groups have none any more, and ends the sessions. Nothing happens if the person is unknown. */
  loseRoles(identity: Pick<Identity, 'issuer' | 'subject'>, author: Author): Promise<void>;
  /**
   * Records that somebody whom the issuer has confirmed was not signed in. Whoever has an account there can repeat that, so
   * the log gets one record an hour for each person and reason, and at most 100 for those who have never signed in.
   * @param author of the record if the person is not known
   */
  recordRefusal(identity: Identity, reason: Refusal['refused'], author: Author): Promise<void>;
  /** Ends one session. @returns its ID token, if it is kept; undefined if the session has ended before */
  endSession(id: string, author: Author): Promise<string | undefined>;
  /**
   * Signs out whom the issuer has signed out.
   * @param named a person by its subject, or the session at the issuer; nothing happens if the person has never signed in here
   */
  signOutAtIssuer(named: SignedOut, author: Author): Promise<void>;
  /** Calls back when a session has ended, at most 5 seconds later. @returns stops this */
  watch(sessionId: string, onEnd: (error: unknown) => void): () => void;
}

export interface SignedOut {
  readonly issuer: string;
  readonly subject: string | undefined;
  readonly sid: string | undefined;
}

export interface PeopleOptions {
  readonly store: PersonStore;
  readonly roles: Roles;
  /** The configured one; undefined if there is none. */
  readonly issuer: string | undefined;
  readonly secrets: SecretBox;
  readonly clock: Clock;
  readonly random: Random;
}

const hourMs = 3_600_000;
/** The absolute end of a person's session after the sign-in, in milliseconds. */
const sessionMs = 12 * hourMs;
/** The longest ID token that is kept for the sign-out at the issuer, in characters. */
const longestIdToken = 16_384;

/** How many people who have never signed in are told apart in an hour, when they are refused. */
const strangers = 100;

/** A sign-in that was refused. */
interface Refusal extends Pick<Person, 'id' | 'name' | 'subject'> {
  readonly refused: NonNullable<SignInRefusal['recordedAs']>;
}

const auditedRefusal: AuditedKind<Refusal> = {
  type: 'person',
  show: ({ refused, subject }) => ({ refused, subject }),
};
const auditedPerson: AuditedKind<Person> = { type: 'person', show: personFields.show };
export const auditedSession: AuditedKind<{ readonly id: string }> = { type: 'session', show: () => ({}) };

export function createPeople({ store, roles, issuer, secrets, clock, random }: PeopleOptions): People {
  const people = createLookUps((id) => store.find(id), clock);
  const sessions = createLookUps((id) => store.findSession(id), clock);
  /** Number of changes in this process that end sessions. What was read before has to be read again. */
  let changes = 0;
  const editQueue = createEditQueue();

  const edit = async (
    id: string,
    author: Author,
    change: (present: Person) => Partial<Person>,
    precondition: Precondition<Person> = () => true,
  ): Promise<Person> => {
    const person = await editQueue.edit(id, {
      get: () => get(id),
      precondition,
      change(present) {
        const next = { ...present, ...change(present) };
        return isDeepStrictEqual(next, present) ? present : next;
      },
      write: (next, present) =>
        store.replace(next, auditEntry(author, auditedPerson, { at: clock.now(), before: present, after: next })),
    });
    changes += 1;
    people.forget(id);
    return person;
  };

  const get = async (id: string): Promise<Person> => {
    const found = await store.find(id);
    if (found === undefined) throw new ProblemError('person-not-found', { detail: 'No person has this id.' });
    return found;
  };

  /** Stores what the issuer says now. @returns the person, also one that is disabled, who is not changed */
  const meet = async (identity: Identity, request: SignInRequest): Promise<Person> => {
    const id = idOfPerson(identity);
    return await editQueue.contend(id, async () => {
      const present = await store.find(id);
      if (present?.disabled === true) return present;
      const at = clock.now();
      const met = { ...identity, lastSignInAt: at };
      const next = present
        ? { ...present, ...met }
        : { id, ...met, disabled: false, epoch: 0, firstSignInAt: at, revision: 1 };
      const author = { ...request, principal: { kind: 'person' as const, id, name: identity.name } };
      const entry = auditEntry(author, auditedPerson, { at, ...(present && { before: present }), after: next });
      if (present === undefined) return (await store.insert(next, entry)) ? next : undefined;
      const isSame = isDeepStrictEqual({ ...present, lastSignInAt: at }, next);
      return await store.replace(next, isSame ? undefined : entry);
    });
  };

  const principalOf = ({ id, name, roles: held }: Person): Omit<SignedInPerson, 'sessionId' | 'sessionEndsAt'> => ({
    ...{ kind: 'person', id, name, family: id },
    ...{ scopes: roles.scopesOf(held), roles: held },
  });

  /** Who a session is of, and how long that is known, on the monotonic clock. */
  const current = async (sessionId: string): Promise<{ person: SignedInPerson; until: number }> => {
    for (;;) {
      const before = changes;
      const ofSession = sessions.get(sessionId);
      const session = await ofSession.found;
      if (session === undefined) throw ended();
      const ofPerson = people.get(session.personId);
      const person = await ofPerson.found;
      // A change may have happened since the reads.
      if (before !== changes) continue;
      const isOver = person === undefined || person.disabled || person.epoch !== session.epoch;
      if (isOver || !isOfIssuer(person) || session.endsAt <= clock.now()) throw ended();
      return {
        person: { ...principalOf(person), sessionId, sessionEndsAt: session.endsAt },
        until: Math.min(ofSession.until, ofPerson.until),
      };
    }
  };

  /** Sessions of an issuer that the operator has removed end. */
  const isOfIssuer = ({ issuer: of }: Person): boolean =>
    issuer !== undefined && new URL(of).href === new URL(issuer).href;

  const openIdToken = (sessionId: string, sealed: Sealed): string | undefined => {
    try {
      return secrets.open(sealed, idTokenRecord(sessionId));
    } catch (error) {
      if (error instanceof SecretUnreadableError) return undefined;
      throw error;
    }
  };

  return {
    list: () => store.list(),
    get,
    async change(id, change, precondition, author) {
      const { id: changer, makers = [] } = author.principal;
      // Keys go on working when the person who made them is disabled.
      if (changer === id || makers.includes(id)) {
        throw noAuthority('You cannot disable or enable yourself, and neither can an API key that you made.');
      }
      return await edit(
        id,
        author,
        ({ disabled, epoch }) => (change.disabled === true && !disabled ? { ...change, epoch: epoch + 1 } : change),
        precondition,
      );
    },
    signOut: (id, author) => edit(id, author, ({ epoch }) => ({ epoch: epoch + 1 })),
    async signIn({ identity, sid, idToken }, request) {
      const person = await meet(identity, request);
      people.forget(person.id);
      if (person.disabled) return { person, session: undefined };
      const startedAt = clock.now();
      const id = random.uuid();
      const session: PersonSession = {
        id,
        personId: person.id,
        epoch: person.epoch,
        sid,
        idToken: idToken.length > longestIdToken ? undefined : secrets.seal(idToken, idTokenRecord(id)),
        startedAt,
        endsAt: new Date(startedAt.getTime() + sessionMs),
      };
      const principal = { kind: 'person' as const, id: person.id, name: person.name, sessionId: id };
      const author = { ...request, principal };
      await store.beginSession(session, auditEntry(author, auditedSession, { at: startedAt, after: { id } }));
      return { person, session };
    },
    async principal(id, scope) {
      const person = await people.get(id).found;
      if (person === undefined || person.disabled) throw unauthenticated('The person is disabled.');
      const principal = principalOf(person);
      if (!principal.scopes.has(scope)) throw unauthenticated(`The person no longer has the scope ${scope}.`);
      return principal;
    },
    async read(sessionId) {
      sessions.forget(sessionId);
      const session = await sessions.get(sessionId).found;
      if (session !== undefined) people.forget(session.personId);
      return (await current(sessionId)).person;
    },
    async identify(sessionId) {
      return (await current(sessionId)).person;
    },
    async endSession(id, author) {
      const session = await store.findSession(id);
      await store.endSession(id, auditEntry(author, auditedSession, { at: clock.now(), before: { id } }));
      changes += 1;
      sessions.forget(id);
      return session?.idToken === undefined ? undefined : openIdToken(id, session.idToken);
    },
    async loseRoles(identity, author) {
      const id = idOfPerson(identity);
      if ((await store.find(id)) === undefined) return;
      await edit(id, author, ({ epoch, roles: held }) => (held.length === 0 ? {} : { roles: [], epoch: epoch + 1 }));
    },
    async recordRefusal(identity, refused, author) {
      const id = idOfPerson(identity);
      const person = await store.find(id);
      const at = clock.now();
      const hour = Math.floor(at.getTime() / hourMs);
      const who = person === undefined ? Number.parseInt(id.slice(0, 8), 16) % strangers : `${id}/${refused}`;
      if (!(await store.useOnce(`refusal/${hour}/${who}`, new Date((hour + 2) * hourMs)))) return;
      const { name, subject } = person ?? identity;
      const principal = person === undefined ? author.principal : { kind: 'person' as const, id, name };
      const after = { id, name, subject, refused };
      await store.recordRefusal(auditEntry({ ...author, principal }, auditedRefusal, { at, after }));
    },
    async signOutAtIssuer({ issuer, subject, sid }, author) {
      const ids = subject === undefined ? await store.findBySid(sid ?? '') : [idOfPerson({ issuer, subject })];
      for (const id of ids) {
        const person = await store.find(id);
        if (person?.issuer === issuer) await edit(id, author, ({ epoch }) => ({ epoch: epoch + 1 }));
      }
    },
    watch: (sessionId, onEnd) => watchLookUps(clock, onEnd, () => current(sessionId)),
  };
}

/** It follows from what identifies a person. */
export function idOfPerson({ issuer, subject }: Pick<Identity, 'issuer' | 'subject'>): string {
  return deriveUuid('person', issuer, subject);
}

/** What the sealed ID token of a session belongs to. */
function idTokenRecord(sessionId: string): string {
  return `person_sessions/${sessionId}/id_token`;
}

/** Not counted as a refused key: open pages go on sending a cookie that has ended. */
function ended(): ProblemError {
  return unauthenticated('The session has ended. Sign in again.', false);
}
