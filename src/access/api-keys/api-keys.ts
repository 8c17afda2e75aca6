import { hash, randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { auditEntry, type AuditedKind, type Author } from '../audit/author.ts';
import type { Scope } from '../../../generated/operations.ts';
import { createEditQueue } from '../../base/editing/edit-queue.ts';
import type { Precondition } from '../../base/editing/edits.ts';
import { ProblemError } from '../../base/errors/problem-error.ts';
import type { Listing } from '../../base/lists/listing.ts';
import { apiKeyFields, type ApiKeyChange, type ApiKeyStatus, type NewApiKey, type StoredApiKey } from './api-key.ts';
import type { People } from '../people/people.ts';
import type { ApiKeyStore, LedBy, RecordChange } from './api-key-store.ts';
import { noAuthority } from './no-authority.ts';
import { unauthenticated } from './unauthenticated.ts';
import { authorOf } from '../../base/limits/principal.ts';
import type { Clock } from '../../base/runtime/clock.ts';
import type { Random } from '../../base/runtime/random.ts';

/** A new key with the only copy of its secret. */
export interface CreatedApiKey {
  readonly record: StoredApiKey;
  /** `pgw_<id without dashes>_<43 characters of base64url>` */
  readonly key: string;
}

/** The id of the key from configuration, which is not in the database. */
export const administratorId = 'administrator';
/** The id of the key that the first start creates. It is fixed, so that only one of several first starts succeeds. */
export const firstKeyId = '00000000-0000-4000-8000-000000000001';

/** The person or the key that creates, changes or revokes another key. */
export interface ActingKey {
  readonly kind: Author['principal']['kind'];
  readonly id: string;
  readonly scopes: ReadonlySet<Scope>;
  /** Undefined without limits, its own and those of the keys that led to it. */
  readonly reach?: object | undefined;
  /** Of a person. */
  readonly sessionId?: string;
}

/** The request by which a key creates, changes or revokes another. */
interface KeyAuthor extends Author {
  readonly principal: Author['principal'] & ActingKey;
}

/** A revoked key, with the numbers of its descendants. */
export interface RevokedApiKey {
  readonly key: StoredApiKey;
  /** Number of descendants that were revoked with it. */
  readonly revokedDescendants: number;
  /** Number of descendants that are still valid. */
  readonly activeDescendants: number;
}

/** Creating, reading, changing and revoking API keys. */
export interface ApiKeys {
  /**
   * Creates a key. It can only have scopes of its creator, and expires at the latest with its creator. It can have any
   * limits, because those of its creator hold as well.
   * @throws {ProblemError} insufficient-scope for a scope that the creator lacks; invalid-request for an expiry in the
   *   past or after the creator's; no-authority if the creator's chain of keys is too long; unauthenticated if it was
   *   revoked
   */
  create(
    request: Pick<NewApiKey, 'name' | 'scopes' | 'expiresAt' | 'limits'>,
    author: KeyAuthor,
  ): Promise<CreatedApiKey>;
  describe(acting: ActingKey): Promise<{ readonly expiresAt: Date | undefined; readonly isAdministrator: boolean }>;
  /** @throws {ProblemError} api-key-not-found */
  get(id: string): Promise<StoredApiKey>;
  /** Newest first. @param status only those that have it now @param authorId only those that this one created */
  list(status: ApiKeyStatus | undefined, authorId: string | undefined): Listing<StoredApiKey>;
  /**
   * Revokes the keys that a person created, and those that they led to.
   * @returns how many this call has revoked
   */
  revokeOfPerson(id: string, author: Author): Promise<number>;
  statusOf(key: StoredApiKey): ApiKeyStatus;
  /**
   * Changes name and limits. No key can change its own limits, or those of a key that led to it.
   * @throws {ProblemError} api-key-not-found, no-authority, precondition-failed, and what the precondition throws
   */
  change(
    id: string,
    change: ApiKeyChange,
    precondition: Precondition<StoredApiKey>,
    author: KeyAuthor,
  ): Promise<StoredApiKey>;
  /**
   * Revokes a key, and its descendants if asked to; revoking it again changes nothing.
   * @throws {ProblemError} api-key-not-found, no-authority, precondition-failed unless it is already revoked
   */
  revoke(
    id: string,
    descendants: 'keep' | 'revoke',
    precondition: Precondition<StoredApiKey>,
    author: KeyAuthor,
  ): Promise<RevokedApiKey>;
}

export interface ApiKeysOptions {
  readonly store: ApiKeyStore;
  readonly allScopes: readonly Scope[];
  readonly people: Pick<People, 'read'>;
  readonly clock: Clock;
  readonly random: Random;
  /**
   * Called immediately for keys that were changed or revoked in this process. Other processes notice it when their
   * cached copies expire.
   */
  readonly onChanged?: (ids: ReadonlySet<string>) => void;
}

const audited: AuditedKind<StoredApiKey> = { type: 'api-key', show: apiKeyFields.show };

/** The longest chain of keys that were created by one another, because each key stores the chain. */
const maxAncestors = 16;

export function createApiKeys({ store, allScopes, people, clock, random, onChanged }: ApiKeysOptions): ApiKeys {
  /** The current state of the acting key; `undefined` for the one from configuration, and for a person. */
  const readActing = async ({ kind, id, scopes, sessionId }: ActingKey): Promise<StoredApiKey | undefined> => {
    if (id === administratorId) return undefined;
    if (kind === 'person') {
      const current = await people.read(sessionId ?? '');
      if ([...scopes].some((scope) => !current.scopes.has(scope)))
        throw unauthenticated('The roles have changed.', false);
      return undefined;
    }
    const key = await store.find(id);
    if (key === undefined) throw unauthenticated('The API key is not valid.');
    if (key.revokedAt !== undefined) throw unauthenticated('The API key was revoked.');
    return key;
  };

  /** The first key stays an administrator key when a release adds a scope that it does not have. */
  const isAdministrator = ({ id, scopes, reach }: ActingKey, stored: StoredApiKey | undefined): boolean =>
    reach === undefined &&
    (id === administratorId ||
      id === firstKeyId ||
      (stored?.expiresAt === undefined && allScopes.every((scope) => scopes.has(scope))));

  const isMadeBy = (maker: ActingKey, target: StoredApiKey): boolean =>
    maker.kind === 'person' ? target.person?.id === maker.id : target.ancestors.includes(maker.id);

  const mayRevoke = (revoker: ActingKey, stored: StoredApiKey | undefined, target: StoredApiKey): boolean =>
    target.id === revoker.id || isMadeBy(revoker, target) || isAdministrator(revoker, stored);

  const mayChange = (changer: ActingKey, stored: StoredApiKey | undefined, target: StoredApiKey): boolean =>
    target.id !== changer.id &&
    stored?.ancestors.includes(target.id) !== true &&
    (isAdministrator(changer, stored) ||
      // People cannot change a key with scopes that they have lost: lifting its limits would give them back.
      (isMadeBy(changer, target) &&
        (changer.kind !== 'person' || target.scopes.every((scope) => changer.scopes.has(scope)))));

  const editQueue = createEditQueue();

  const recordBy =
    (author: Author, at: Date): RecordChange =>
    (before, after) =>
      auditEntry(author, audited, { at, before, after });

  const edit = (
    id: string,
    author: Author,
    at: Date,
    precondition: Precondition<StoredApiKey>,
    change: (present: StoredApiKey) => StoredApiKey,
  ): Promise<StoredApiKey> =>
    editQueue.edit(id, {
      get: async () => (await store.find(id)) ?? missing(),
      precondition,
      change,
      write: (next, present) => store.replace(next, recordBy(author, at)(present, next)),
    });

  /** Sets the time of revocation, once. */
  const revokeOne = (
    id: string,
    author: Author,
    at: Date,
    precondition: Precondition<StoredApiKey> = () => true,
  ): Promise<StoredApiKey> =>
    edit(
      id,
      author,
      at,
      (present) => present.revokedAt !== undefined || precondition(present),
      (present) => (present.revokedAt === undefined ? { ...present, revokedAt: at } : present),
    );

  const revokeAll = async (led: LedBy, author: Author): Promise<number> => {
    let count = 0;
    for (;;) {
      const at = clock.now();
      const revoked = await store.revokeAll(led, at, recordBy(author, at));
      if (revoked.length === 0) return count;
      onChanged?.(new Set(revoked));
      count += revoked.length;
    }
  };

  return {
    async create({ name, scopes, expiresAt, limits }, author) {
      const maker = author.principal;
      const lacking = scopes.filter((scope) => !maker.scopes.has(scope));
      if (lacking.length > 0) {
        throw new ProblemError('insufficient-scope', {
          detail:
            maker.kind === 'person'
              ? `People can grant only scopes that they have themselves. ${maker.name} lacks ${lacking.join(', ')}.`
              : `A key can grant only scopes that it has itself. This key lacks ${lacking.join(', ')}.`,
          headers: { 'www-authenticate': `Bearer error="insufficient_scope", scope="${lacking.join(' ')}"` },
        });
      }
      const createdAt = clock.now();
      if (expiresAt !== undefined && expiresAt <= createdAt) throw invalidExpiry('must be in the future');
      const stored = await readActing(maker);
      const end = stored?.expiresAt;
      if (expiresAt !== undefined && end !== undefined && expiresAt > end) {
        throw invalidExpiry(`must not be later than the creating key expires, at ${end.toISOString()}`);
      }
      const isPerson = maker.kind === 'person';
      const ancestors = isPerson ? [] : [...(stored?.ancestors ?? []), maker.id];
      if (ancestors.length > maxAncestors) {
        throw noAuthority(
          `This key is at the end of a chain of ${maxAncestors} keys, each created by the one before. Use an earlier key of the chain.`,
        );
      }
      const { key, id, secretHash } = mintKey(random.uuid());
      const made = {
        ...{ id, name, scopes, secretHash, createdAt, expiresAt: expiresAt ?? end, ancestors, limits },
        author: authorOf(maker),
        person: isPerson ? { id: maker.id, isAdministrator: isAdministrator(maker, undefined) } : stored?.person,
      };
      const record = { ...made, revision: 1, lastUsedAt: undefined, revokedAt: undefined };
      await store.insert(made, auditEntry(author, audited, { at: createdAt, after: record }));
      try {
        // A revocation with descendants marks the key first and searches for descendants afterwards. So either it finds
        // this new key, or this check finds the mark.
        await readActing(maker);
      } catch (error) {
        // No caller has seen its secret; this only keeps the list correct.
        await revokeOne(id, author, clock.now());
        throw error;
      }
      return { key, record };
    },
    async describe(acting) {
      const stored = acting.kind === 'person' ? undefined : await readActing(acting);
      return { expiresAt: stored?.expiresAt, isAdministrator: isAdministrator(acting, stored) };
    },
    async get(id) {
      return (await store.find(id)) ?? missing();
    },
    list: (status, authorId) => store.list({ status, authorId }, clock.now()),
    statusOf({ revokedAt, expiresAt }) {
      if (revokedAt !== undefined) return 'revoked';
      return expiresAt !== undefined && expiresAt <= clock.now() ? 'expired' : 'active';
    },
    async change(id, change, precondition, author) {
      const changer = author.principal;
      const stored = await readActing(changer);
      const target = (await store.find(id)) ?? missing();
      if (!mayChange(changer, stored, target)) {
        throw noAuthority(
          'A key can change only its descendants. An administrator key can change any key but itself and the keys that led to it.',
        );
      }
      const key = await edit(id, author, clock.now(), precondition, (present) => {
        const next = { ...present, ...change };
        return isDeepStrictEqual(next, present) ? present : next;
      });
      onChanged?.(new Set([id]));
      return key;
    },
    revokeOfPerson: (id, author) => revokeAll({ person: id }, author),
    async revoke(id, descendants, precondition, author) {
      const revoker = author.principal;
      const stored = await readActing(revoker);
      const target = (await store.find(id)) ?? missing();
      if (!mayRevoke(revoker, stored, target)) {
        throw noAuthority('A key can revoke only itself and its descendants. An administrator key can revoke any key.');
      }
      const key = await revokeOne(id, author, clock.now(), precondition);
      onChanged?.(new Set([id]));
      const revokedDescendants = descendants === 'revoke' ? await revokeAll({ key: id }, author) : 0;
      return { key, revokedDescendants, activeDescendants: await store.countActiveDescendants(id, clock.now()) };
    },
  };
}

function invalidExpiry(detail: string): ProblemError {
  return new ProblemError('invalid-request', {
    detail: 'The body of the request is not valid.',
    errors: [{ detail, pointer: '#/expires_at' }],
  });
}

function missing(): never {
  throw new ProblemError('api-key-not-found', { detail: 'No API key has this id.' });
}

/** Creates a key with a secret of 32 random bytes. */
export function mintKey(id: string): { key: string; id: string; secretHash: string } {
  const secret = randomBytes(32).toString('base64url');
  return { key: `pgw_${id.replaceAll('-', '')}_${secret}`, id, secretHash: hashSecret(secret) };
}

/** SHA-256 in hex. A secret of 256 random bits needs no slow hash. */
export function hashSecret(secret: string): string {
  return hash('sha256', secret);
}
