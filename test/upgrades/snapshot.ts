import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { BSON, type Db, type Document, type IndexDescription } from 'mongodb';

/** What tests need to know about a snapshot. */
export interface Facts {
  readonly commit: string;
  readonly secretsKey: string;
  readonly signingSecret: string;
  /** Ids, in the order of their idempotency keys `order-0`, `order-1` … */
  readonly orders: readonly string[];
  /** The body that created each of them. */
  readonly order: Document;
  /** The order that was completed. */
  readonly completed: string;
  readonly apiKey: string;
  /** The id of a prompt with three versions. */
  readonly prompt: string;
  /** Ids of the integration that got all events, and of the one that got none. */
  readonly working: string;
  readonly failing: string;
  /** Milliseconds since the epoch. */
  readonly madeAt: number;
}

/** A database as an earlier commit wrote it. `run-snapshot.ts` makes them. */
export interface Snapshot {
  readonly facts: Facts;
  readonly collections: Record<string, { indexes: Document[]; documents: Document[] }>;
}

export async function readSnapshot(name: string): Promise<Snapshot> {
  const packed = await readFile(path.join(import.meta.dirname, `${name}.json.gz`));
  return BSON.EJSON.parse(gunzipSync(packed).toString()) as Snapshot;
}

/** Writes a snapshot into an empty database. */
export async function restoreSnapshot(db: Db, { collections }: Snapshot): Promise<void> {
  for (const [name, { indexes, documents }] of Object.entries(collections)) {
    if (indexes.length > 0) {
      const plain = indexes.map(({ v: _v, entryFormat: _format, multikey: _multikey, ...index }) => index);
      await db.collection(name).createIndexes(plain as IndexDescription[]);
    }
    if (documents.length > 0) await db.collection(name).insertMany(documents);
  }
}
