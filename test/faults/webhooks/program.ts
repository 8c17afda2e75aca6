/**
 * A service process with times of the tests' choosing: the real service, and relay and delivery engine beside it.
 * It is started by node.ts.
 */
import packageJson from '../../../package.json' with { type: 'json' };
import { loadConfig } from '../../../src/config.ts';
import { connectDatabase } from '../../../src/db/client.ts';
import { ensureIndexes } from '../../../src/db/indexes.ts';
import { serialiseEvent } from '../../../src/events/serialise.ts';
import { createIntegrationDirectory } from '../../../src/integrations/directory.ts';
import { ensureSecretKey } from '../../../src/integrations/secret-key-file.ts';
import { createSecretBox } from '../../../src/integrations/secrets.ts';
import { createIntegrationStore, integrationIndexes } from '../../../src/integrations/store.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { startService } from '../../../src/start.ts';
import { createAddressRule, loopbackNetworks } from '../../../src/webhooks/sending/address-rules.ts';
import { defaultTiming, type WebhookTiming } from '../../../src/webhooks/timing.ts';
import { createWebhooks, webhookIndexes } from '../../../src/webhooks/webhooks.ts';
import { timingVariable } from './timing.ts';

const print = (line: string): void => void process.stderr.write(`${line}\n`);
const config = loadConfig(process.env);
const log = createLogger(config.log.level);
const timing = JSON.parse(process.env[timingVariable] ?? JSON.stringify(defaultTiming)) as WebhookTiming;
const uri = config.database.uri ?? '';

const database = await connectDatabase({ uri, databaseName: config.database.name, log });
await ensureIndexes(database.db, [...webhookIndexes, integrationIndexes]);
const secrets = createSecretBox(await ensureSecretKey(config.database.dataDir));
const webhooks = createWebhooks({
  database,
  integrations: createIntegrationDirectory(createIntegrationStore(database), secrets),
  serialise: serialiseEvent,
  mayConnect: createAddressRule(loopbackNetworks),
  version: packageJson.version,
  log,
  timing,
});
webhooks.start();

const service = await startService({
  config,
  environment: process.env,
  log,
  print,
  onExchange({ operationId, answer }) {
    if (operationId !== 'createOrder' || answer.status !== 201) return;
    webhooks.relay.nudge('orders', (JSON.parse(answer.body) as { id: string }).id);
  },
});
process.on('SIGTERM', () => {
  void service
    .stop()
    .then(() => webhooks.stop(5_000))
    .then(() => database.close())
    .then(() => process.exit(0));
});
