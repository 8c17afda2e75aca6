import { isDeepStrictEqual } from 'node:util';
import { auditEntry, type AuditedKind, type Author } from '../../access/audit/author.ts';
import { changeTime, requireMatch, type Precondition } from '../../base/editing/edits.ts';
import { refuseFindings } from '../../base/errors/findings.ts';
import { ProblemError } from '../../base/errors/problem-error.ts';
import { createEditQueue } from '../../base/editing/edit-queue.ts';
import { mayReachLocation, mayReachLocations, type Reach } from '../../base/limits/reach.ts';
import type { Listing } from '../../base/lists/listing.ts';
import { mask } from './custom-headers.ts';
import { requireApplicable } from './event-filter.ts';
import { requireCredentialsAgain, sealHeaders, showHeaders } from './headers.ts';
import { integrationFields, secretRecord } from './integration.ts';
import { describeUnreadable, renewSeals } from './sealed-values.ts';
import type {
  Integration,
  IntegrationChange,
  IntegrationContent,
  IntegrationStatus,
  NewIntegration,
} from './integration.ts';
import type { Sealed, SecretBox } from '../../base/secrets/secret-box.ts';
import type { IntegrationStore } from './integration-store.ts';
import { hasSameOrigin, maskUrl, unmaskUrl } from './url-credentials.ts';
import type { Clock } from '../../base/runtime/clock.ts';
import type { Random } from '../../base/runtime/random.ts';

/**
 * Integrations. Every method that takes an id throws `integration-not-found`, every one that edits `edit-conflict`, and
 * `precondition-failed` unless the integration is already as requested.
 */
export interface Integrations {
  /**
   * @param secret key of the signatures; deliveries are not signed without one
   * @throws {ProblemError} target-not-allowed, header-not-allowed, filter-not-applicable, unknown-location
   */
  create(content: IntegrationContent, secret: string | undefined, id: string, author: Author): Promise<Integration>;
  /** @param reach of the caller: an integration that is not only for its locations is not found */
  get(id: string, reach?: Reach): Promise<Integration>;
  find(id: string): Promise<Integration | undefined>;
  /** Those of the integrations with these ids that exist, by their ids. */
  findMany(ids: readonly string[]): Promise<ReadonlyMap<string, Integration>>;
  /** Ids of all integrations that are for none but these locations. */
  idsWithin(locations: ReadonlySet<string>): Promise<readonly string[]>;
  /** Ids of all integrations that are paused or disabled. */
  inactiveIds(): Promise<readonly string[]>;
  /** Newest first. @param status only those that have it @param reach of the caller */
  list(status: IntegrationStatus | undefined, reach?: Reach): Listing<Integration>;
  /** @throws {ProblemError} target-not-allowed, header-not-allowed, filter-not-applicable, unknown-location */
  update(
    id: string,
    change: IntegrationChange,
    precondition: Precondition<Integration>,
    author: Author,
  ): Promise<Integration>;
  /** Deletes it. Nothing more is sent to it; its deliveries are removed later. */
  remove(id: string, precondition: Precondition<Integration>, author: Author): Promise<void>;
  /** Pauses sending, also of a disabled integration. Events are held. */
  pause(id: string, precondition: Precondition<Integration>, author: Author): Promise<Integration>;
  /**
   * Starts sending again, with held events first and all counts of failures at zero.
   * @throws {ProblemError} secret-unreadable
   */
  enable(id: string, precondition: Precondition<Integration>, author: Author): Promise<Integration>;
  /** Sets the next secret, replaces an earlier next secret, and gives the rotation a new id. */
  beginRotation(
    id: string,
    secret: string,
    precondition: Precondition<Integration>,
    author: Author,
  ): Promise<Integration>;
  /** Makes the next secret the current one. @throws {ProblemError} secret-rotation-not-pending */
  finishRotation(
    id: string,
    rotationId: string,
    precondition: Precondition<Integration>,
    author: Author,
  ): Promise<Integration>;
  /** Deletes the next secret, if there is one. */
  cancelRotation(id: string, precondition: Precondition<Integration>, author: Author): Promise<Integration>;
  /** Says which of its secrets cannot be decrypted, so that nothing is sent to it. Undefined if all can. */
  unreadableOf(integration: Integration): string | undefined;
  /** @throws {ProblemError} secret-unreadable if {@link unreadableOf} finds one */
  requireReadable(integration: Integration): void;
  /** The current secret, as plain text. */
  secretOf(integration: Integration): string | undefined;
  /** Its custom headers, masked where they look like credentials. */
  headersOf(integration: Integration): Record<string, string>;
}

/** The locations that an integration can be for. */
export interface LocationIds {
  /** Of these ids, those of locations. */
  existing(ids: readonly string[]): Promise<ReadonlySet<string>>;
}

export interface IntegrationsOptions {
  readonly store: IntegrationStore;
  readonly locations: LocationIds;
  readonly secrets: SecretBox;
  /** Checks where events are sent. A mistake is a sentence that begins with "The URL ". */
  readonly checkUrl: (url: string) => { readonly url: string } | { readonly mistake: string };
  /** Called for an integration that was changed. */
  readonly nudge: (integrationId: string) => void;
  /** Called for an integration whose due deliveries must be sent, even if its circuit breaker is open. */
  readonly attemptNow: (integrationId: string) => void;
  readonly clock: Clock;
  readonly random: Random;
}

/** Encrypted values show that something was changed, but are not recorded. */
const audited: AuditedKind<NewIntegration> = {
  type: 'integration',
  show: (integration) => ({
    ...integrationFields.show({ ...integration, settingsRevision: 0 }),
    headers: integration.headers,
    secret: integration.secret,
    secret_rotation: integration.rotation?.id,
  }),
  withheld: ['headers', 'secret'],
};

/** The most characters of a URL in the form of the parser. */
const longestUrl = 2_048;

export function createIntegrations({
  store,
  locations,
  secrets,
  checkUrl,
  nudge,
  attemptNow,
  clock,
  random,
}: IntegrationsOptions): Integrations {
  const editQueue = createEditQueue();

  const get = async (id: string, reach?: Reach): Promise<Integration> => {
    const integration = await store.find(id);
    if (integration !== undefined && mayReachLocations(reach, integration.locationIds)) return integration;
    throw new ProblemError('integration-not-found', { detail: `No integration has the id ${id}.` });
  };

  /**
   * Changes an integration for an operator. The counts of failures begin at zero, and a warning is removed.
   * @param isDone whether the integration is already as requested, so that the precondition does not matter
   */
  const edit = (
    id: string,
    change: (present: Integration) => Integration,
    precondition: Precondition<Integration>,
    author: Author,
    isDone: (present: Integration) => boolean = () => false,
  ): Promise<Integration> =>
    editQueue.edit(id, {
      get: () => get(id),
      precondition: (present) => isDone(present) || precondition(present),
      change(present) {
        const changed = renewSeals(change(present), secrets);
        if (isDeepStrictEqual(changed, present)) return present;
        return { ...changed, warning: undefined, updatedAt: changeTime(present.updatedAt, clock.now()) };
      },
      async write(next, present) {
        const entry = auditEntry(author, audited, { at: next.updatedAt, before: present, after: next });
        const stored = await store.replace(next, entry);
        if (stored !== undefined) nudge(id);
        return stored;
      },
    });

  /** @param stored the values that masked ones mean */
  const permittedUrl = (sent: string, stored?: string): string => {
    const text = unmaskUrl(sent, stored);
    if (text === undefined) {
      throw notAllowed(
        `contains ${mask}, but no value is stored for it with this scheme, host and port: send the value`,
      );
    }
    // Rules may have become stricter since then, so an unchanged URL is not checked again.
    if (text === stored) return stored;
    const checked = checkUrl(text);
    if ('mistake' in checked) throw notAllowed(checked.mistake);
    // Callers must be able to send a representation back unchanged.
    if (Math.max(checked.url.length, maskUrl(checked.url).length) <= longestUrl) return checked.url;
    throw notAllowed(`is longer than ${longestUrl} characters when encoded`);
  };

  /**
   * The locations that an author asks for, or else all that the author's key may reach. Each must exist and be within its
   * reach.
   */
  const permittedLocations = async (
    ids: readonly string[] | undefined,
    { principal: { reach } }: Author,
  ): Promise<readonly string[] | undefined> => {
    if (ids === undefined) {
      if (reach?.locations?.size !== 0) return reach?.locations && [...reach.locations];
      throw new ProblemError('unknown-location', { detail: 'The API key reaches no location.' });
    }
    const existing = await locations.existing(ids);
    const errors = ids.flatMap((id, index) =>
      existing.has(id) && mayReachLocation(reach, id)
        ? []
        : [{ detail: 'is not the id of a location', pointer: `#/location_ids/${index}` }],
    );
    const detail = 'Some of the location_ids are not ids of locations.';
    refuseFindings({ type: 'unknown-location', detail, errors });
    return ids;
  };

  const requireReadable = (integration: Integration): void => {
    const detail = describeUnreadable(integration, secrets);
    if (detail !== undefined) throw new ProblemError('secret-unreadable', { detail });
  };

  const seal = (id: string, secret: string): Sealed => secrets.seal(secret, secretRecord(id));

  return {
    get,
    find: (id) => store.find(id),
    async findMany(ids) {
      return new Map((await store.findMany([...new Set(ids)])).map((integration) => [integration.id, integration]));
    },
    idsWithin: (locations) => store.idsWithin(locations),
    inactiveIds: () => store.inactiveIds(),
    list: (status, reach) => store.list(status, reach?.locations),
    headersOf: ({ id, headers }) => showHeaders(id, headers, secrets),
    unreadableOf: (integration) => describeUnreadable(integration, secrets),
    requireReadable,
    secretOf: ({ id, secret }) => (secret === undefined ? undefined : secrets.open(secret, secretRecord(id))),

    async create(content, secret, id, author) {
      requireApplicable(content);
      const locationIds = await permittedLocations(content.locationIds, author);
      const at = clock.now();
      const integration: NewIntegration = {
        ...content,
        locationIds,
        id,
        url: permittedUrl(content.url),
        headers: sealHeaders(id, content.headers, [], secrets),
        secret: secret === undefined ? undefined : seal(id, secret),
        rotation: undefined,
        finishedRotationId: undefined,
        status: 'active',
        disabled: undefined,
        warning: undefined,
        createdAt: at,
        updatedAt: at,
      };
      const entry = auditEntry(author, audited, { at, after: integration });
      const isNew = await store.insert(integration, entry);
      return isNew ? { ...integration, revision: 1, settingsRevision: 1 } : await get(id);
    },

    async update(id, { url: sentUrl, headers, ...change }, precondition, author) {
      const bound =
        'locationIds' in change ? { locationIds: await permittedLocations(change.locationIds, author) } : {};
      return await edit(
        id,
        (present) => {
          const filtered = { ...present, ...change };
          // The schemas that a stored filter fits can only grow.
          if (!isDeepStrictEqual(filtered.filter, present.filter)) requireApplicable(filtered);
          else if (!isDeepStrictEqual(filtered.eventTypes, present.eventTypes)) requireApplicable(filtered, 'types');
          const url = sentUrl === undefined ? present.url : permittedUrl(sentUrl, present.url);
          if (!hasSameOrigin(url, present.url)) requireCredentialsAgain(id, headers, present.headers, secrets);
          return {
            ...filtered,
            ...bound,
            url,
            headers: headers === undefined ? present.headers : sealHeaders(id, headers, present.headers, secrets),
          };
        },
        precondition,
        author,
      );
    },

    async remove(id, precondition, author) {
      await editQueue.contend(id, async () => {
        const present = await get(id);
        requireMatch(present, precondition);
        const entry = auditEntry(author, audited, { at: clock.now(), before: present });
        return (await store.remove(present, entry)) ? true : undefined;
      });
      nudge(id);
    },

    pause: (id, precondition, author) =>
      edit(
        id,
        (present) => ({ ...present, status: 'paused', disabled: undefined }),
        precondition,
        author,
        ({ status }) => status === 'paused',
      ),
    async enable(id, precondition, author) {
      const enabled = await edit(
        id,
        (present) => {
          requireReadable(present);
          return { ...present, status: 'active', disabled: undefined };
        },
        precondition,
        author,
        ({ status }) => status === 'active',
      );
      attemptNow(id);
      return enabled;
    },

    beginRotation(id, secret, precondition, author) {
      const rotation = { id: random.uuid(), secret: seal(id, secret), startedAt: clock.now() };
      return edit(id, (present) => ({ ...present, rotation }), precondition, author);
    },

    finishRotation: (id, rotationId, precondition, author) =>
      edit(
        id,
        (present) => {
          const { rotation, finishedRotationId } = present;
          if (rotation?.id === rotationId) {
            return { ...present, secret: rotation.secret, rotation: undefined, finishedRotationId: rotationId };
          }
          if (finishedRotationId === rotationId) return present;
          const detail = rotation === undefined ? 'No rotation is pending.' : 'Another rotation is pending.';
          throw new ProblemError('secret-rotation-not-pending', { detail });
        },
        precondition,
        author,
        ({ finishedRotationId }) => finishedRotationId === rotationId,
      ),

    cancelRotation: (id, precondition, author) =>
      edit(
        id,
        (present) => ({ ...present, rotation: undefined }),
        precondition,
        author,
        ({ rotation }) => rotation === undefined,
      ),
  };
}

function notAllowed(mistake: string): ProblemError {
  return new ProblemError('target-not-allowed', {
    detail: `The URL ${mistake}.`,
    errors: [{ detail: mistake, pointer: '#/url' }],
  });
}
