import type { MongoClient } from 'mongodb';

/** What went wrong between this process and the database. */
export type DatabaseFailure =
  /** A connection could not be opened. */
  | 'connect'
  /** An open connection broke, or was given up because a command got no answer. */
  | 'connection_lost'
  /** All connections were in use for too long. */
  | 'pool_timeout'
  /** The regular check of the server failed. */
  | 'heartbeat';

/** Connections of the pool. */
export interface PoolUse {
  readonly open: number;
  readonly inUse: number;
  /** Commands that wait for a connection. */
  readonly waiting: number;
  readonly limit: number;
}

/** Learns how the database works for this process. */
export interface DatabaseObserver {
  /** A command has ended: seconds that it waited for a connection, and that it used the connection. */
  commandEnded(waited: number, used: number): void;
  failed(kind: DatabaseFailure): void;
  /** A migration failed; it will be repeated. */
  migrationFailed(): void;
  /** @param read asks for the present numbers, when they are wanted */
  watchPool(read: () => PoolUse): void;
}

/**
 * Reports commands and connections by the events of the driver's pool, which the driver creates anyway. Its monitoring
 * of commands would tell their names too, but costs 11 to 39 % of the CPU time of a command: it copies each command, and
 * parses each answer a second time.
 */
export function watchPool(client: MongoClient, observer: DatabaseObserver): void {
  /** Of the open connections, by server and number: when the current command got it, and how long that had waited. */
  const connections = new Map<string, Map<number | '<monitor>', { since: number; waited: number }>>();
  let open = 0;
  let inUse = 0;
  let waiting = 0;
  client.on('connectionReady', ({ address, connectionId }) => {
    const ofServer = connections.get(address) ?? new Map<number, { since: number; waited: number }>();
    connections.set(address, ofServer.set(connectionId, { since: 0, waited: 0 }));
    open += 1;
  });
  client.on('connectionClosed', ({ address, connectionId, reason }) => {
    const wasOpen = connections.get(address)?.delete(connectionId) === true;
    if (wasOpen) open -= 1;
    if (reason === 'error') observer.failed(wasOpen ? 'connection_lost' : 'connect');
  });
  client.on('connectionCheckOutStarted', () => {
    waiting += 1;
  });
  client.on('connectionCheckOutFailed', ({ reason }) => {
    waiting -= 1;
    if (reason === 'timeout') observer.failed('pool_timeout');
  });
  client.on('connectionCheckedOut', ({ address, connectionId, durationMS }) => {
    waiting -= 1;
    inUse += 1;
    const connection = connections.get(address)?.get(connectionId);
    if (connection === undefined) return;
    connection.since = performance.now();
    connection.waited = durationMS;
  });
  client.on('connectionCheckedIn', ({ address, connectionId }) => {
    inUse -= 1;
    const connection = connections.get(address)?.get(connectionId);
    if (connection === undefined) return;
    observer.commandEnded(connection.waited / 1_000, (performance.now() - connection.since) / 1_000);
  });
  client.on('serverHeartbeatFailed', () => {
    observer.failed('heartbeat');
  });
  observer.watchPool(() => ({ open, inUse, waiting, limit: client.options.maxPoolSize }));
}
