/**
 * `npm run program -- bench:dashboard [deliveries] [rows]` measures the dashboard in the browser of the tests: how long the
 * first load takes until the page reacts, and how fluid the list of deliveries stays while it is scrolled down by a
 * number of rows.
 */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { chromium, type Page } from 'playwright-core';
import { loadConfig } from '../../src/config/config.ts';
import { openDatabase } from '../support/database.ts';
import { createLogger } from '../../src/observability/logger.ts';
import { startService } from '../../src/start.ts';
import { newDelivery } from '../../src/webhooks/deliveries/delivery.ts';
import { createDeliveryStore } from '../../src/webhooks/deliveries/delivery-store.ts';
import { findBrowserProgram } from '../support/browser-program.ts';
import { checkSetting, fastEngine, startDatabaseServer } from '../support/database-server.ts';
import { median } from './statistics.ts';

const size = Number(process.argv[2] ?? 100_000);
const rows = Number(process.argv[3] ?? 3_000);
const loads = 5;
const key = 'administrator-key-of-the-benchmark-0123456789';

const folder = await mkdtemp(path.join(tmpdir(), 'bench-'));
const server = await startDatabaseServer(fastEngine);
const environment = {
  PORT: '0',
  DATA_DIR: folder,
  MONGODB_URI: server.uri,
  ADMIN_API_KEY: key,
  RATE_LIMIT: 'off',
  ...checkSetting(fastEngine),
};
const service = await startService({
  config: loadConfig(environment),
  environment: { ...process.env, ...environment },
  log: createLogger('silent'),
  print: () => undefined,
});
const { executablePath, args, env } = await findBrowserProgram();
const browser = await chromium.launch({ executablePath, args, env: { ...process.env, ...env } });
try {
  await fill();
  console.log(
    `${size.toLocaleString('en')} deliveries on ${server.engine}, ${browser.browserType().name()} ${browser.version()}\n`,
  );
  const page = await signIn();
  await measureLoads();
  await page.goto('dashboard/deliveries');
  await page.locator('main tbody a').first().waitFor();
  await page.bringToFront();
  await measureScrolling(page);
} finally {
  await browser.close();
  await service.stop();
  await server.stop();
  await rm(folder, { recursive: true, force: true });
}

/** Writes deliveries to one integration, one each second, as the relay does. They are not due yet. */
async function fill(): Promise<void> {
  const answer = await fetch(`${service.url}/api/v1/integrations`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      name: 'Kitchen display',
      url: 'https://kitchen.example.com/hooks',
      event_types: ['ORDER_PLACED'],
    }),
  });
  const { id: integrationId } = (await answer.json()) as { id: string };
  await fetch(`${service.url}/api/v1/integrations/${integrationId}/pause`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
  });
  const { database: config } = loadConfig(environment);
  const database = await openDatabase(server.uri, config.name);
  const deliveries = createDeliveryStore(database);
  const body = Buffer.from('{"type":"ORDER_PLACED"}');
  const start = Date.now() - size * 1_000;
  for (let first = 0; first < size; first += 1_000) {
    const some = Array.from({ length: Math.min(1_000, size - first) }, (_, offset) => ({
      eventId: randomUUID(),
      eventType: 'ORDER_PLACED' as const,
      integrationId,
      body,
      targetId: randomUUID(),
      eventCreatedAt: new Date(start + (first + offset) * 1_000),
    }));
    await deliveries.insertMissing(some.map((each) => newDelivery(each, new Date(start + first * 1_000))));
  }
  await database.close();
}

async function signIn(): Promise<Page> {
  const page = await (await browser.newContext({ baseURL: `${service.url}/` })).newPage();
  await page.goto('dashboard/');
  await page.getByLabel('API key', { exact: true }).fill(key);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('navigation', { name: 'Main navigation' }).waitFor();
  return page;
}

/** The time until the sign-in form is shown and no task blocks the page any more, each time with an empty cache. */
async function measureLoads(): Promise<void> {
  const times: { shown: number; interactive: number; script: number }[] = [];
  for (let load = 0; load < loads; load += 1) {
    const context = await browser.newContext();
    await context.addInitScript(`
      window.longTasks = [];
      new PerformanceObserver((list) => window.longTasks.push(...list.getEntries().map(({ startTime, duration }) =>
        startTime + duration))).observe({ type: 'longtask', buffered: true });`);
    const page = await context.newPage();
    await page.goto(`${service.url}/dashboard/`);
    await page.getByLabel('API key', { exact: true }).waitFor();
    // A page in the background shows no frame.
    await page.bringToFront();
    times.push(
      await page.evaluate(`new Promise((resolve) => requestAnimationFrame(() => setTimeout(() => {
        const shown = performance.getEntriesByName('first-contentful-paint')[0].startTime;
        const scripts = performance.getEntriesByType('resource').filter(({ name }) => name.endsWith('.js'));
        resolve({
          shown,
          interactive: Math.max(shown, ...window.longTasks),
          script: scripts.reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0),
        });
      })))`),
    );
    await context.close();
  }
  const middle = (name: 'shown' | 'interactive' | 'script'): number => median(times.map((time) => time[name]));
  console.log(
    `First load: first paint after ${middle('shown').toFixed(0)} ms, interactive after ${middle('interactive').toFixed(0)} ms, ` +
      `${(middle('script') / 1_024).toFixed(1)} KiB of compressed script (medians of ${loads})`,
  );
}

/** Scrolls 200 pixels in each frame, as a fast wheel does, and waits only while further rows are loading. */
async function measureScrolling(page: Page): Promise<void> {
  const { gaps, longTasks, seconds, shown } = (await page.evaluate(`new Promise((resolve) => {
    const longTasks = [];
    new PerformanceObserver((list) => longTasks.push(...list.getEntries().map(({ duration }) => duration)))
      .observe({ type: 'longtask' });
    const gaps = [];
    const start = performance.now();
    let before = start;
    const last = () => Number([...document.querySelectorAll('main tbody tr[data-index]')].at(-1)?.dataset.index ?? 0);
    const step = (now) => {
      gaps.push(now - before);
      before = now;
      scrollBy(0, 200);
      if (gaps.length % 60 !== 0 || last() < ${rows}) requestAnimationFrame(step);
      else resolve({ gaps, longTasks, seconds: (now - start) / 1000, shown: last() });
    };
    requestAnimationFrame(step);
  })`)) as { gaps: number[]; longTasks: number[]; seconds: number; shown: number };
  const sorted = gaps.toSorted((one, other) => one - other);
  const at = (share: number): string => (sorted[Math.floor(sorted.length * share)] ?? 0).toFixed(1);
  const elements = (await page.evaluate(`document.querySelectorAll('main tbody tr').length`)) as number;
  console.log(
    `Scrolling ${shown.toLocaleString('en')} rows in ${seconds.toFixed(1)} s: time between frames ${at(0.5)} ms (median), ` +
      `${at(0.95)} ms (p95), ${at(0.99)} ms (p99), ${(sorted.at(-1) ?? 0).toFixed(1)} ms (longest); ` +
      `${longTasks.length} tasks above 50 ms, the longest ${Math.max(0, ...longTasks).toFixed(0)} ms; ${elements} rows in the page`,
  );
}
