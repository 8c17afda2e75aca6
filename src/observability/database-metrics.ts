import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { DatabaseObserver, PoolUse } from '../db/pool-watch.ts';

const commandBuckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15];

/** Metrics of this process' connections to the database. */
export function createDatabaseMetrics(registry: Registry): DatabaseObserver {
  const registers = [registry];
  const commands = new Histogram({
    name: 'database_command_duration_seconds',
    help: 'Time of one command of the database, without the wait for a connection, in seconds.',
    buckets: commandBuckets,
    registers,
  });
  const waits = new Histogram({
    name: 'database_connection_wait_seconds',
    help: 'Time that a command waited for a connection of the pool, in seconds.',
    buckets: commandBuckets,
    registers,
  });
  const errors = new Counter({
    name: 'database_errors_total',
    help: 'Failures between this process and the database: connect (no connection could be opened), connection_lost, pool_timeout (all connections in use), heartbeat (the regular check failed). Most commands are repeated after a failure.',
    labelNames: ['kind'] as const,
    registers,
  });
  let read: (() => PoolUse) | undefined;
  new Gauge({
    name: 'database_connections',
    help: 'Open connections of the pool, by their use.',
    labelNames: ['state'] as const,
    registers,
    collect() {
      const { open, inUse } = read?.() ?? { open: 0, inUse: 0 };
      this.set({ state: 'in_use' }, inUse);
      this.set({ state: 'idle' }, Math.max(0, open - inUse));
    },
  });
  new Gauge({
    name: 'database_connections_limit',
    help: 'The most connections of the pool.',
    registers,
    collect() {
      this.set(read?.().limit ?? 0);
    },
  });
  new Gauge({
    name: 'database_commands_waiting',
    help: 'Commands that wait for a connection of the pool.',
    registers,
    collect() {
      this.set(read?.().waiting ?? 0);
    },
  });
  return {
    commandEnded: (waited, used) => {
      waits.observe(waited);
      commands.observe(used);
    },
    failed: (kind) => {
      errors.labels(kind).inc();
    },
    watchPool: (reader) => {
      read = reader;
    },
  };
}
