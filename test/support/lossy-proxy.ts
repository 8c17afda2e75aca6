import { readFileSync } from 'node:fs';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { connect as connectSecurely } from 'node:tls';
import { BSON } from 'mongodb';
import { reservePort } from './ports.ts';

/** https://www.mongodb.com/docs/manual/reference/mongodb-wire-protocol/#op_msg */
const OP_MSG = 2013;
const HEADER_BYTES = 16;
const WRITE_COMMANDS = ['insert', 'update', 'delete', 'findAndModify'];

/** A command that passed the proxy, such as `{ name: 'update', collection: 'prompts' }`. */
export interface SeenCommand {
  name: string;
  /** The first value of the command: for most commands, the collection. */
  collection: string;
}

export interface Loss {
  /**
   * `answer`: the server applies the command, but its answer is discarded and the connection is cut (the default).
   * `request`: the connection is cut before the server gets the command.
   * `confirmation`: the server applies the command, and answers that it could not wait for a majority.
   * `space`: the answer is the error of a server whose disk is full.
   */
  of?: 'answer' | 'request' | 'confirmation' | 'space';
  /** Command names; by default all writes. */
  commands?: readonly string[];
  collection?: string;
  /** The number of commands to lose; 1 by default. With `Infinity`, until `endLosses()`. */
  times?: number;
}

interface ArmedLoss {
  loss: Required<Omit<Loss, 'collection'>> & Pick<Loss, 'collection'>;
  remaining: number;
  done: () => void;
}

/** The losses that a write must survive, by name. */
export const writeLosses: readonly [string, Loss][] = [
  ['the answer of a write is lost', { of: 'answer' }],
  ['the answer of a write is lost three times', { of: 'answer', times: 3 }],
  ['the request of a write is lost', { of: 'request' }],
  ['the majority does not confirm a write', { of: 'confirmation' }],
];

/**
 * A TCP proxy in front of a MongoDB server that loses messages on request. It reads only as much of the wire protocol
 * as it needs to distinguish commands, so it speaks TLS only with the server.
 */
export class LossyProxy {
  /** Connection string of the proxy: one server, with the credentials and options of the upstream server. */
  readonly uri: string;
  /** Every command that the server received through the proxy since the last `forget()`. */
  readonly seen: SeenCommand[] = [];
  readonly #connect: () => Socket;
  readonly #port: number;
  readonly #armed: ArmedLoss[] = [];
  readonly #sockets = new Set<Socket>();
  /** Milliseconds by which each answer is late, as from a slow server. */
  delayMs = 0;
  #server: Server;
  #paused = false;

  private constructor(upstreamUri: string, server: Server) {
    this.#server = server;
    this.#port = (server.address() as AddressInfo).port;
    const { uri, connect } = throughProxy(upstreamUri, this.#port);
    this.uri = uri;
    this.#connect = connect;
    this.#serve(server);
  }

  static async start(upstreamUri: string): Promise<LossyProxy> {
    return new LossyProxy(upstreamUri, await listen(await reservePort()));
  }

  /** Loses the next matching command, or the next few. @returns resolves once they are lost */
  lose({ of = 'answer', commands = WRITE_COMMANDS, collection, times = 1 }: Loss = {}): Promise<void> {
    return new Promise((done) => {
      const loss = { of, commands, times, ...(collection !== undefined && { collection }) };
      this.#armed.push({ loss, remaining: times, done });
    });
  }

  /** Stops losing commands. */
  endLosses(): void {
    this.#armed.length = 0;
  }

  /** Empties `seen`. */
  forget(): void {
    this.seen.length = 0;
  }

  /** Stops all traffic without closing connections, like a hanging server or a network that drops packets. */
  pause(): void {
    this.#paused = true;
    for (const socket of this.#sockets) socket.pause();
  }

  /** Lets the waiting traffic continue. */
  resume(): void {
    this.#paused = false;
    for (const socket of this.#sockets) socket.resume();
  }

  /** Closes all connections and refuses new ones, like a stopped server. */
  async stop(): Promise<void> {
    const closed = new Promise<void>((resolve) => {
      this.#server.close(() => {
        resolve();
      });
    });
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  /** Accepts connections again after `stop`, on the same port. */
  async restart(): Promise<void> {
    this.#server = await listen(this.#port);
    this.#serve(this.#server);
  }

  #serve(server: Server): void {
    server.on('connection', (client) => {
      this.#relay(client, this.#connect());
    });
  }

  #relay(client: Socket, upstream: Socket): void {
    const lostAnswers = new Map<number, ArmedLoss>();
    const cut = (): void => {
      client.destroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) {
      this.#sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('error', cut);
      socket.on('close', () => {
        this.#sockets.delete(socket);
        cut();
      });
      if (this.#paused) socket.pause();
    }
    onFrame(client, (frame) => {
      const command = commandOf(frame);
      if (command !== undefined) {
        const armed = this.#take(command);
        if (armed?.loss.of === 'request') {
          armed.done();
          cut();
          return;
        }
        this.seen.push(command);
        if (armed !== undefined) lostAnswers.set(frame.readInt32LE(4), armed);
      }
      upstream.write(frame);
    });
    onFrame(upstream, (frame) => {
      const lost = lostAnswers.get(frame.readInt32LE(8));
      lostAnswers.delete(frame.readInt32LE(8));
      if (lost === undefined) {
        if (this.delayMs === 0) client.write(frame);
        else setTimeout(() => client.write(frame), this.delayMs);
        return;
      }
      if (lost.remaining === 0) lost.done();
      if (lost.loss.of === 'confirmation') client.write(answerLike(frame, (body) => ({ ...body, writeConcernError })));
      else if (lost.loss.of === 'space') client.write(answerLike(frame, () => outOfDiskSpace));
      else cut();
    });
  }

  /** The loss for this command. Decrements its counter. */
  #take(command: SeenCommand): ArmedLoss | undefined {
    const index = this.#armed.findIndex(
      ({ loss }) =>
        loss.commands.includes(command.name) &&
        (loss.collection === undefined || loss.collection === command.collection),
    );
    const armed = this.#armed[index];
    if (armed === undefined) return undefined;
    armed.remaining -= 1;
    if (armed.remaining === 0) this.#armed.splice(index, 1);
    return armed;
  }
}

function listen(port: number): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on('error', reject);
    server.listen(port, '127.0.0.1', () => {
      resolve(server);
    });
  });
}

/** Splits a stream into wire messages. Each begins with its own length. */
function onFrame(socket: Socket, handle: (frame: Buffer) => void): void {
  const chunks: Buffer[] = [];
  let missing = HEADER_BYTES;
  socket.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    missing -= chunk.length;
    // A message of megabytes arrives in many chunks. They are joined only once it is there.
    if (missing > 0) return;
    let buffered = Buffer.concat(chunks.splice(0));
    while (buffered.length >= HEADER_BYTES && buffered.length >= buffered.readInt32LE(0)) {
      const length = buffered.readInt32LE(0);
      const frame = buffered.subarray(0, length);
      buffered = buffered.subarray(length);
      handle(frame);
    }
    chunks.push(buffered);
    missing = (buffered.length < HEADER_BYTES ? HEADER_BYTES : buffered.readInt32LE(0)) - buffered.length;
  });
}

/**
 * The first element of the command document is the name of the command. For most commands its value is the collection.
 */
function commandOf(frame: Buffer): SeenCommand | undefined {
  const flags = 4;
  const kind = HEADER_BYTES + flags;
  if (frame.readInt32LE(12) !== OP_MSG || frame[kind] !== 0) return undefined;
  const type = kind + 1 + 4;
  const end = frame.indexOf(0, type + 1);
  const name = frame.toString('utf8', type + 1, end);
  const isString = frame[type] === 2;
  const collection = isString ? frame.toString('utf8', end + 5, end + 4 + frame.readInt32LE(end + 1)) : '';
  return { name, collection };
}

/** The answer of a replica set that has applied a write and lost its majority. */
const writeConcernError = { code: 64, codeName: 'WriteConcernTimeout', errmsg: 'waiting for replication timed out' };

const outOfDiskSpace = {
  ok: 0,
  code: 14031,
  codeName: 'OutOfDiskSpace',
  errmsg: 'available disk space of 1048576 bytes is less than required minimum of 524288000',
};

/** Another answer to the same command. */
function answerLike(frame: Buffer, change: (body: BSON.Document) => BSON.Document): Buffer {
  const bodyStart = HEADER_BYTES + 4 + 1;
  const body = BSON.serialize(change(BSON.deserialize(frame.subarray(bodyStart))));
  const answer = Buffer.concat([frame.subarray(0, bodyStart), body]);
  answer.writeInt32LE(answer.length, 0);
  return answer;
}

function throughProxy(upstreamUri: string, proxyPort: number): { uri: string; connect: () => Socket } {
  const parts = /^mongodb:\/\/(.*@)?([^/?,@]+)[^/?]*(?:\/([^?]*))?(?:\?(.*))?$/.exec(upstreamUri);
  if (parts === null) throw new Error('the proxy needs a mongodb:// URI');
  const [, credentials = '', address = '', path = '', query = ''] = parts;
  const { hostname: host, port: number } = new URL(`tcp://${address}`);
  const port = number === '' ? 27017 : Number(number);
  const options = query
    .split('&')
    .filter((option) => option !== '' && !/^(replicaSet|directConnection|tls\w*|ssl)=/i.test(option));
  return {
    uri: `mongodb://${credentials}127.0.0.1:${proxyPort}/${path}?${[...options, 'directConnection=true'].join('&')}`,
    connect: connector(
      host,
      port,
      new Map([...new URLSearchParams(query)].map(([name, value]) => [name.toLowerCase(), value])),
    ),
  };
}

/** Connects to a server by TLS if its connection string says so. @param options by their names in lower case */
function connector(host: string, port: number, options: ReadonlyMap<string, string>): () => Socket {
  const isOn = (name: string): boolean => options.get(name) === 'true';
  if (!isOn('tls') && !isOn('ssl')) return () => connect(port, host);
  const file = (name: string): Buffer | undefined => {
    const path = options.get(name);
    return path === undefined ? undefined : readFileSync(path);
  };
  const [ca, own] = [file('tlscafile'), file('tlscertificatekeyfile')];
  const isChecked = !isOn('tlsinsecure') && !isOn('tlsallowinvalidcertificates');
  const settings = {
    host,
    port,
    ...(ca && { ca }),
    ...(own && { cert: own, key: own }),
    rejectUnauthorized: isChecked,
  };
  return () =>
    connectSecurely({ ...settings, ...(isOn('tlsallowinvalidhostnames') && { checkServerIdentity: () => undefined }) });
}
