import type { components } from '../../../generated/types.ts';
import { auditEntry, type AuditedKind, type Author } from '../../access/audit/author.ts';
import { ProblemError } from '../../base/errors/problem-error.ts';
import { mayReachPrompt, type Reach } from '../../base/limits/reach.ts';
import type { Clock } from '../../base/runtime/clock.ts';
import { SecretUnreadableError } from '../../base/secrets/secret-box.ts';
import type { AuditEntry } from '../../storage/db/audit.ts';
import type { ContentStore } from './content-store.ts';
import type { InvocationDocument } from './invocation.ts';
import type { InvocationStore } from './invocation-store.ts';

/** The content of an invocation in the form of the contract. */
export type InvocationContent = components['schemas']['KeptContent'];

/** Invocations and their contents, as far as a caller reaches them. Every method can throw `database-unavailable`. */
export interface KeptContents {
  /** @throws {ProblemError} invocation-not-found */
  find(id: string, reach: Reach | undefined): Promise<InvocationDocument>;
  /** @throws {ProblemError} invocation-content-not-found, secret-unreadable */
  read(id: string): Promise<InvocationContent>;
  /** Records that somebody gets, or erases, what was asked and answered. Call it before. */
  recordAccess(ids: readonly string[], by: Author): Promise<void>;
}

export interface KeptContentsDependencies {
  readonly store: Pick<InvocationStore, 'find'>;
  readonly contents: Pick<ContentStore, 'find'>;
  readonly clock: Pick<Clock, 'now'>;
  /** Writes records of the audit log. */
  readonly record: (entries: readonly AuditEntry[]) => Promise<void>;
  /** Stores the records of this process that are not stored yet, so that a caller finds what it has just done. */
  readonly flush: () => Promise<void>;
}

/** Nothing of what was asked and answered. */
const audited: AuditedKind<{ id: string }> = { type: 'invocation', show: () => ({}) };

export function createKeptContents({ store, contents, clock, record, flush }: KeptContentsDependencies): KeptContents {
  return {
    async find(id, reach) {
      await flush();
      const found = await store.find(id);
      if (found !== undefined && mayReachPrompt(reach, found.prompt_id ?? '')) return found;
      throw new ProblemError('invocation-not-found', { detail: 'The invocation log has no record with this id.' });
    },
    async read(id) {
      const content = await contents.find(id).catch((cause: unknown) => {
        if (!(cause instanceof SecretUnreadableError)) throw cause;
        const detail = 'The service cannot decrypt the content of this invocation. Its key is not in SECRETS_KEY.';
        throw new ProblemError('secret-unreadable', { detail, cause });
      });
      if (content !== undefined) return JSON.parse(content) as InvocationContent;
      throw new ProblemError('invocation-content-not-found', { detail: 'No content of this invocation is kept.' });
    },
    async recordAccess(ids, by) {
      const at = clock.now();
      await record(ids.map((id) => auditEntry(by, audited, { at, after: { id } })));
    },
  };
}
