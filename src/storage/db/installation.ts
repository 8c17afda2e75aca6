import { randomUUID } from 'node:crypto';
import type { Collection } from 'mongodb';
import { retryLostRaces } from '../../base/editing/lost-races.ts';
import type { Database } from './client.ts';
import { insertOnce, read, type StampedDocument } from './writes.ts';

/** What distinguishes the data of one database from that of others. */
export interface Installation {
  /** A UUID, created once. Ids that are derived from names of callers include it. */
  readonly id: string;
}

interface InstallationDocument extends StampedDocument {
  installation_id: string;
}

/** There is one document. Because its id is fixed, only one of several first starts can create it. */
const documentId = 'installation';

/**
 * Reads the document that the first start on this database created, or creates it.
 *
 * @throws ProblemError `database-unavailable`
 */
export function ensureInstallation(database: Database): Promise<Installation> {
  return retryLostRaces(async () => {
    const found = await findInstallation(database);
    if (found !== undefined) return found;
    const id = randomUUID();
    const inserted = await insertOnce(installationsOf(database), { _id: documentId, installation_id: id });
    return inserted.outcome === 'done' ? { id } : undefined;
  });
}

/** Reads the document. @returns undefined before the first start @throws ProblemError `database-unavailable` */
export async function findInstallation(database: Pick<Database, 'db'>): Promise<Installation | undefined> {
  const found = await read(() => installationsOf(database).findOne({ _id: documentId }));
  return found === null ? undefined : { id: found.installation_id };
}

function installationsOf({ db }: Pick<Database, 'db'>): Collection<InstallationDocument> {
  return db.collection('installation');
}
