/** The real service as a process of its own, with times that the tests choose. node.ts starts it. */
import { loadConfig } from '../../../src/config/config.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { startService } from '../../../src/start.ts';
import { createAddressRule, loopbackNetworks } from '../../../src/base/outbound/address-rules.ts';
import { defaultTiming, type WebhookTiming } from '../../../src/webhooks/timing.ts';
import { createWebhooks } from '../../../src/webhooks/webhooks.ts';
import { timingVariable } from './timing.ts';

const config = loadConfig(process.env);
const timing = JSON.parse(process.env[timingVariable] ?? JSON.stringify(defaultTiming)) as WebhookTiming;
const service = await startService({
  config,
  environment: process.env,
  log: createLogger(config.log.level),
  print: (line) => void process.stderr.write(`${line}\n`),
  createWebhooks: (dependencies) =>
    createWebhooks({ ...dependencies, timing, mayConnect: createAddressRule(loopbackNetworks) }),
});
process.on('SIGTERM', () => {
  void service.stop().then(() => process.exit(0));
});
