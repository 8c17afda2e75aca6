import { deepStrictEqual } from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { loadConfig } from '../../src/config/config.ts';
import { defaultCacheDir } from '../../src/storage/db/embedded/cache-dir.ts';
import { createLogger } from '../../src/observability/logger.ts';
import { startService } from '../../src/start.ts';
import { chosenGenerators, type Generator } from './generators.ts';
import { createWorkplace } from './workplace.ts';

const adminKey = 'administrator-key-of-the-generators-0123456789';
const price = 1_000_000_000;
const prompt = {
  name: 'Greeter',
  messages: [{ role: 'user', content: 'Hello {{name}}' }],
  variables: { name: { required: true } },
  selected_provider: 'echo',
};
/** What each program with a generated client finds. The total of the order does not fit into 32 bits. */
const found = { text: 'Hello Ada', listed: true, total: 5 * price, problem: 'No value for: name.' };

interface Row {
  readonly generator: Generator;
  readonly cells: Record<'generated' | 'compiled' | 'called', string>;
}

/**
 * Generates clients from the contract as the service answers it, compiles them, and has each create a prompt, invoke it,
 * list the prompts, place an order and read a problem. The order has a status of a later release.
 *
 * @param names the generators to run; all if there are none
 * @returns whether everything worked
 */
async function main(names: readonly string[]): Promise<boolean> {
  const chosen = chosenGenerators(names);
  const folder = await mkdtemp(path.join(tmpdir(), 'generators-'));
  const environment = {
    DATA_DIR: path.join(folder, 'data'),
    CACHE_DIR: defaultCacheDir(process.env, homedir()),
    PORT: '0',
    ADMIN_API_KEY: adminKey,
    RATE_LIMIT: 'off',
  };
  const service = await startService({
    config: loadConfig(environment),
    environment: { ...process.env, ...environment },
    log: createLogger('silent'),
    print: () => undefined,
  });
  const later = laterRelease(service.url);
  try {
    const settings = { GATEWAY_URL: await listen(later), GATEWAY_KEY: adminKey, ...(await bodies(service.url)) };
    const rows: Row[] = [];
    for (const generator of chosen) rows.push(await tryOut(generator, { folder, settings }));
    console.log(table(rows));
    return rows.every(({ cells }) => Object.values(cells).every((cell) => cell !== 'FAILED'));
  } finally {
    later.close();
    await service.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Passes requests on to the service. Orders have a status that the contract does not list, as a later release may add it. */
function laterRelease(url: string): Server {
  return createServer((request, response) => {
    void (async () => {
      // Java offers HTTP/2 with each request.
      const ofConnection = ['host', 'connection', 'upgrade', 'http2-settings'];
      const headers = Object.entries(request.headers).filter(([name]) => !ofConnection.includes(name));
      const answer = await fetch(`${url}${request.url ?? ''}`, {
        method: request.method ?? 'GET',
        headers: headers as [string, string][],
        ...(request.method === 'POST' && { body: await buffer(request) }),
      });
      const text = (await answer.text()).replace('"status":"open"', '"status":"a-later-value"');
      response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' }).end(text);
    })();
  });
}

async function listen(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** The bodies that each program sends, after what an order needs was created. */
async function bodies(url: string): Promise<Record<'PROMPT' | 'INVOCATION' | 'ORDER', string>> {
  const create = async (target: string, body: object): Promise<{ id: string }> => {
    const answer = await fetch(url + target, {
      method: 'POST',
      headers: { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`${target}: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as { id: string };
  };
  const place = { name: 'Canal Café', currency: 'EUR', time_zone: 'UTC', fiscal_day_end: '00:00' };
  const { id: location_id } = await create('/v1/locations', place);
  const category = await create('/v1/categories', { location_id, name: 'Yachts' });
  const product = await create('/v1/products', { location_id, category_id: category.id, name: 'Yacht', price });
  return {
    PROMPT: JSON.stringify(prompt),
    INVOCATION: JSON.stringify({ variables: { name: 'Ada' } }),
    ORDER: JSON.stringify({ location_id, items: [{ product_id: product.id, quantity: 5 }] }),
  };
}

async function tryOut(
  generator: Generator,
  { folder, settings }: { folder: string; settings: Record<string, string> },
): Promise<Row> {
  const work = path.join(folder, generator.name);
  const place = createWorkplace(work, settings);
  const cells = { generated: 'FAILED', compiled: '–', called: '–' };
  const steps: [keyof typeof cells, () => Promise<void>][] = [
    [
      'generated',
      async () => {
        const served = await fetch(`${settings['GATEWAY_URL'] ?? ''}/openapi.json`);
        await place.write('openapi.json', await served.text());
        await generator.generate(place);
      },
    ],
    ['compiled', () => generator.compile(place)],
  ];
  const { call } = generator;
  if (call !== undefined) {
    steps.push([
      'called',
      async () => {
        deepStrictEqual(JSON.parse(await call(place)), found);
      },
    ]);
  }
  for (const [step, act] of steps) {
    const began = performance.now();
    try {
      await act();
      cells[step] = 'yes';
    } catch (error) {
      cells[step] = 'FAILED';
      console.error(`${generator.name}, ${step}: ${error instanceof Error ? error.message : String(error)}`);
      break;
    }
    console.error(`${generator.name}: ${step} after ${Math.round((performance.now() - began) / 1_000)} s`);
  }
  await rm(work, { recursive: true, force: true });
  return { generator, cells };
}

function table(rows: readonly Row[]): string {
  const lines = [
    ['generator', 'version', 'generated', 'compiled', 'called', 'needs'],
    ...rows.map(({ generator: { name, version, needs = '' }, cells }) => [
      ...[name, version, cells.generated, cells.compiled, cells.called],
      needs,
    ]),
  ];
  const widths = [0, 1, 2, 3, 4].map((column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

process.exitCode = (await main(process.argv.slice(2))) ? 0 : 1;
