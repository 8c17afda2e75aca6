import { randomUUID } from 'node:crypto';
import type { Collection } from 'mongodb';
import type { Database } from './client.ts';
import { insertOnce, read, type StampedDocument } from './writes.ts';

/** What sets the data of one database apart from that of every other. */
export interface Installation {
  /** A UUID, made once. Whatever is derived from names that callers choose takes it in. */
  readonly id: string;
  /** Whether the database had orders before it had this id: their ids were derived without it. */
  readonly hasFormerOrders: boolean;
}

interface InstallationDocument extends StampedDocument {
  installation_id: string;
  former_orders: boolean;
}

/** There is one document. Its fixed id lets only one of several first starts make it. */
const documentId = 'installation';

/**
 * Reads what was made at the first start on this database, or makes it.
 *
 * @throws ProblemError `database-unavailable`
 */
export async function ensureInstallation(database: Database): Promise<Installation> {
  const installations: Collection<InstallationDocument> = database.db.collection('installation');
  for (;;) {
    const found = await read(() => installations.findOne({ _id: documentId }));
    if (found !== null) return { id: found.installation_id, hasFormerOrders: found.former_orders };
    const order = await read(() => database.db.collection('orders').findOne({}, { projection: { _id: 1 } }));
    await insertOnce(installations, {
      _id: documentId,
      installation_id: randomUUID(),
      former_orders: order !== null,
    });
  }
}
