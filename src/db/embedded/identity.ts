import { MongoClient, type Db } from 'mongodb';

/** A database of its own, so that dropping the service's database does not drop it. */
const DATABASE = 'embedded_server';
const ANSWER_LIMIT_MS = 2_000;

interface Marker {
  _id: string;
  folderId: string;
}

/** What a server on a port says about itself. */
export interface ServerIdentity {
  /** The data folder that it serves; undefined when it serves none of ours. */
  folderId: string | undefined;
  /** Product and release, such as `mongod 7.0.28`. */
  product: string;
}

/** The connection string of a server on this machine. One server, whatever replica set it says it belongs to. */
export function localUri(port: number): string {
  return `mongodb://127.0.0.1:${port}/?directConnection=true`;
}

/** Asks the server on a port who it is. @throws MongoError when nothing answers there within 2 s */
export function identify(port: number): Promise<ServerIdentity> {
  return withServer(port, async (db) => {
    const marker = await markers(db).findOne({ _id: 'folder' });
    const build = await db.command({ buildInfo: 1 });
    const product =
      build['secantusVersion'] === undefined
        ? `mongod ${String(build['version'])}`
        : `SecantusDB ${String(build['secantusVersion'])}`;
    return { folderId: marker?.folderId, product };
  });
}

/** Writes into the server on a port which data folder it serves. */
export function mark(port: number, folderId: string): Promise<void> {
  return withServer(port, async (db) => {
    await markers(db).updateOne(
      { _id: 'folder' },
      { $set: { folderId } },
      { upsert: true, writeConcern: { w: 'majority', journal: true } },
    );
  });
}

function markers(db: Db) {
  return db.collection<Marker>('folder');
}

async function withServer<Result>(port: number, action: (db: Db) => Promise<Result>): Promise<Result> {
  const client = new MongoClient(localUri(port), {
    serverSelectionTimeoutMS: ANSWER_LIMIT_MS,
    connectTimeoutMS: ANSWER_LIMIT_MS,
    socketTimeoutMS: ANSWER_LIMIT_MS,
    retryWrites: false,
  });
  try {
    return await action(client.db(DATABASE));
  } finally {
    await client.close();
  }
}
