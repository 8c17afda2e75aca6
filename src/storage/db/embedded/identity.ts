import { MongoClient, MongoServerError } from 'mongodb';

/** A separate database, so that dropping the service's database does not drop it. */
const DATABASE = 'embedded_server';
const ANSWER_LIMIT_MS = 2_000;
/** The only user of a server; its password is in the data folder. */
export const SERVER_USER = 'prompt-gateway';

const UNAUTHORIZED = 13;
const AUTHENTICATION_FAILED = 18;

/** How to reach a server on this machine. */
export interface Access {
  port: number;
  /** Undefined for requests without one. */
  password: string | undefined;
}

/** What a server on a port says about itself. */
export interface ServerIdentity {
  /** The data folder that it serves; undefined for a server that this service did not start. */
  folderId: string | undefined;
  /** Product and release, such as `mongod 7.0.28`. */
  product: string;
}

/**
 * The connection string of a server on this machine. Connects to this one server, even if it belongs to a replica set.
 */
export function localUri({ port, password }: Access): string {
  return password === undefined
    ? `mongodb://127.0.0.1:${port}/?directConnection=true`
    : `mongodb://${SERVER_USER}:${password}@127.0.0.1:${port}/?directConnection=true&authSource=admin`;
}

/** Asks a server who it is, by a real read. @throws MongoError when nothing answers there within 2 s */
export function identify(access: Access): Promise<ServerIdentity> {
  return withServer(access, async (client) => {
    const folderId = await readFolderId(client);
    const build = await client.db(DATABASE).command({ buildInfo: 1 });
    const secantus = build['secantusVersion'] as string | undefined;
    const product = secantus === undefined ? `mongod ${String(build['version'])}` : `SecantusDB ${secantus}`;
    return { folderId, product };
  });
}

/** Writes into a server which data folder it serves. */
export async function mark(access: Access, folderId: string): Promise<void> {
  await withServer(access, (client) =>
    folders(client).updateOne(
      { _id: 'folder' },
      { $set: { folderId } },
      { upsert: true, writeConcern: { w: 'majority', journal: true } },
    ),
  );
}

/**
 * Creates the first user of a server that runs with authentication. The server allows this over the loopback until a
 * user exists (the localhost exception).
 *
 * @throws MongoServerError, 13 when there is a user already
 */
export async function createFirstUser({ port, password }: Access): Promise<void> {
  await withServer({ port, password: undefined }, (client) =>
    client.db('admin').command({ createUser: SERVER_USER, pwd: password, roles: ['root'] }),
  );
}

/** False when a server allows reads without the password. */
export function isProtected({ port }: Access): Promise<boolean> {
  return withServer({ port, password: undefined }, readFolderId).then(
    () => false,
    () => true,
  );
}

/** True for the error of a server that requires a user and password, or other ones. */
export function isRefusal(error: unknown): boolean {
  return error instanceof MongoServerError && [UNAUTHORIZED, AUTHENTICATION_FAILED].includes(Number(error.code));
}

/** True for an error that says that the server cannot read. */
export function isBroken(error: unknown): boolean {
  return error instanceof MongoServerError && !isRefusal(error);
}

/** A client that waits at most 2 s for each answer. */
export function connectTo(access: Access): MongoClient {
  return new MongoClient(localUri(access), {
    serverSelectionTimeoutMS: ANSWER_LIMIT_MS,
    connectTimeoutMS: ANSWER_LIMIT_MS,
    socketTimeoutMS: ANSWER_LIMIT_MS,
    waitQueueTimeoutMS: ANSWER_LIMIT_MS,
    maxPoolSize: 1,
    retryReads: false,
    retryWrites: false,
  });
}

/** Reads the mark of a server: a real read. @throws MongoServerError when the server answers that it cannot read */
export async function readFolderId(client: MongoClient): Promise<string | undefined> {
  return (await folders(client).findOne({ _id: 'folder' }))?.folderId;
}

function folders(client: MongoClient) {
  return client.db(DATABASE).collection<{ _id: string; folderId: string }>('folder');
}

async function withServer<Result>(access: Access, action: (client: MongoClient) => Promise<Result>): Promise<Result> {
  const client = connectTo(access);
  try {
    return await action(client);
  } finally {
    await client.close();
  }
}
