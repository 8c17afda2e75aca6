import type { components } from '../../../generated/types.ts';
import eventDocument from '../../../generated/asyncapi.json' with { type: 'json' };
import document from '../../../generated/openapi.json' with { type: 'json' };
import type { MigrationProgress } from '../../storage/db/migrator.ts';
import { ProblemError } from '../../base/errors/problem-error.ts';
import type { Clock } from '../../base/runtime/clock.ts';
import { shareFor } from '../../base/runtime/share-for.ts';
import type { OperationHandlers } from '../operation.ts';
import { prepareJson } from '../static-body.ts';
import type { KeyUse } from '../../base/secrets/secret-box.ts';

export interface ServiceDependencies {
  readonly version: string;
  readonly metrics: {
    /** The text exposition format of Prometheus. */
    render(): Promise<string>;
  };
  /** The path that a proxy adds; empty without one. */
  readonly basePath: string;
  /** How people sign in to the dashboard. */
  readonly signIn: components['schemas']['SignInWays'];
  readonly isReadOnly: boolean;
  readonly sendsWebhooks: boolean;
  readonly checkDatabase: () => Promise<void>;
  /** Answers within seconds, and is shared already. */
  readonly checkStorage: () => Promise<void>;
  /** The worst key that a stored secret needs. */
  readonly secretsKey: () => KeyUse;
  readonly data: {
    /** The schema version of the data, and the smallest one that a release must know to read it. */
    schema(): { readonly version: number; readonly oldestReader: number };
    /** Undefined when nothing is left to migrate. */
    progress(): MigrationProgress | undefined;
  };
  /**
   * How long all requests share one check of the database, because probes need no key, and one rendering of the metrics,
   * in milliseconds.
   */
  readonly sharedForMs: number;
  readonly clock: Pick<Clock, 'monotonic'>;
  /** True after the process was asked to stop. */
  readonly isStopping: () => boolean;
}

type Operations = Pick<
  OperationHandlers,
  'getServiceInfo' | 'getLiveness' | 'getReadiness' | 'getMetrics' | 'getOpenApiDocument' | 'getAsyncApiDocument'
>;

const links = {
  api_reference: '/docs',
  event_reference: '/docs/events',
  openapi: '/openapi.json',
  asyncapi: '/asyncapi.json',
  liveness: '/health/live',
  readiness: '/health/ready',
  metrics: '/metrics',
};

const eventContract = prepareJson(JSON.stringify(eventDocument));

/** The start page, health, metrics and both contracts. */
export function serviceOperations(dependencies: ServiceDependencies): Operations {
  const { version, metrics, basePath, data, isStopping, clock, sharedForMs } = dependencies;
  const checkDatabase = shareFor(sharedForMs, clock, () => dependencies.checkDatabase());
  const servers = document.servers.map((server) => (server.url === '/' ? { ...server, url: basePath || '/' } : server));
  const contract = { ...document, servers };
  const prepared = prepareJson(JSON.stringify(contract));
  const render = shareFor(sharedForMs, clock, () => metrics.render());
  return {
    getServiceInfo() {
      const schema = data.schema();
      const migration = data.progress();
      return Promise.resolve({
        status: 200,
        body: {
          name: 'prompt-gateway',
          version,
          secrets_key: dependencies.secretsKey(),
          sign_in: dependencies.signIn,
          links,
          schema: { version: schema.version, oldest_reader: schema.oldestReader },
          ...(migration !== undefined && { migration: showMigration(migration) }),
        },
      });
    },
    getLiveness: () => Promise.resolve({ status: 200, body: { status: 'ok' } }),
    async getReadiness() {
      if (isStopping()) {
        throw new ProblemError('shutting-down', {
          detail: 'This process is stopping.',
          headers: { 'retry-after': '5' },
        });
      }
      const [database, storage] = await Promise.allSettled([checkDatabase(), dependencies.checkStorage()]);
      if (database.status === 'rejected') throw database.reason;
      // Only test runs and data sets need object storage, so the service is ready without it.
      const storageStatus = storage.status === 'fulfilled' ? 'ok' : 'unavailable';
      const migration = data.progress()?.status ?? 'ok';
      return {
        status: 200,
        body: {
          status: 'ok',
          read_only: dependencies.isReadOnly,
          sends_webhooks: dependencies.sendsWebhooks,
          checks: { database: 'ok', storage: storageStatus, migration },
        },
      };
    },
    getMetrics: async () => ({ status: 200, body: await render() }),
    getOpenApiDocument: () => Promise.resolve({ status: 200, body: contract, prepared }),
    getAsyncApiDocument: () => Promise.resolve({ status: 200, body: eventDocument, prepared: eventContract }),
  };
}

function showMigration({ status, task, done, total }: MigrationProgress): components['schemas']['Migration'] {
  return { status, ...(task !== undefined && { task }), done, total };
}
