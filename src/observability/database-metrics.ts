import type { DatabaseFailure, DatabaseObserver, PoolUse } from '../storage/db/pool-watch.ts';
import type { MetricSet } from './metric-set.ts';

const commandBuckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15];

const failures: Readonly<Record<DatabaseFailure, true>> = {
  connect: true,
  connection_lost: true,
  pool_timeout: true,
  heartbeat: true,
};

/** Metrics of this process' connections to the database. */
export function createDatabaseMetrics({ counter, histogram, reading }: MetricSet): DatabaseObserver {
  const commands = histogram(
    'database_command_duration_seconds',
    'Time of one command of the database, without the wait for a connection, in seconds.',
    commandBuckets,
  );
  const waits = histogram(
    'database_connection_wait_seconds',
    'Time that a command waited for a connection of the pool, in seconds.',
    commandBuckets,
  );
  const errors = counter(
    'database_errors_total',
    'Failures between this process and the database: connect (no connection could be opened), connection_lost, pool_timeout (all connections in use), heartbeat (the regular check failed). Most commands are repeated after a failure.',
    'kind',
  );
  for (const kind of Object.keys(failures)) errors(kind);
  const migrationFailures = counter(
    'database_migration_failures_total',
    'Times that a migration of the data failed. It is repeated after a minute.',
  );
  let read = (): PoolUse => ({ open: 0, inUse: 0, limit: 0, waiting: 0 });
  const use = (): [number, string][] => {
    const { open, inUse } = read();
    return [
      [inUse, 'in_use'],
      [Math.max(0, open - inUse), 'idle'],
    ];
  };
  reading('database_connections', 'Open connections of the pool, by their use.', use, 'state');
  reading('database_connections_limit', 'The most connections of the pool.', () => [[read().limit]]);
  reading('database_commands_waiting', 'Commands that wait for a connection of the pool.', () => [[read().waiting]]);
  return {
    commandEnded: (waited, used) => {
      waits().observe(waited);
      commands().observe(used);
    },
    failed: (kind) => {
      errors(kind).inc();
    },
    migrationFailed: () => {
      migrationFailures().inc();
    },
    watchPool: (reader) => {
      read = reader;
    },
  };
}
