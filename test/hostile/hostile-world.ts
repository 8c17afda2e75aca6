import type { EngineId } from '../../src/storage/db/embedded/engines.ts';
import { residentMemory } from '../bench/processes.ts';
import { createDataFolder, type DataFolder } from '../faults/data-folder.ts';
import { percentile } from '../faults/webhooks/percentile.ts';
import { checkSetting } from '../support/database-server.ts';
import { adminKey, send } from '../support/send.ts';
import { startServiceProcess, underTest, type ServiceProcess } from '../support/service-process.ts';

/** The measurements of a scenario, with their limits. */
export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit?: string;
  readonly atMost?: number;
  readonly atLeast?: number;
}

export interface Scenario {
  /** The name on the command line, in kebab-case. */
  readonly name: string;
  /** One line that describes the scenario. */
  readonly about: string;
  /** @returns the figures, or the reason why the scenario cannot run on this machine */
  run(world: World): Promise<readonly Figure[] | string>;
}

/** A service under attack, with its own data folder and database. */
export interface Target extends ServiceProcess {
  readonly adminKey: string;
  readonly folder: DataFolder;
  /** The settings of its start, for another process on the same folder. */
  readonly environment: Readonly<Record<string, string>>;
  /** Calls the API with the key of the administrator, or another one. `body` is sent as JSON. */
  call(method: string, path: string, options?: CallOptions): Promise<CallResult>;
}

export interface CallOptions {
  readonly body?: unknown;
  readonly key?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

export interface CallResult {
  readonly status: number;
  readonly headers: Headers;
  // oxlint-disable-next-line typescript/no-explicit-any -- scenarios know the type of the answer
  readonly body: any;
}

/** The effect on other callers between `watch` and `stop`, in milliseconds and MiB. */
export interface Observation {
  readonly reads: number;
  /** Reads without a 200 within 10 s. */
  readonly failedReads: number;
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly longest: number;
  readonly serviceMebibytes: number;
  readonly databaseMebibytes: number;
}

export interface TargetPlace {
  /** The parent of the data folder; by default the system's folder for temporary files. */
  readonly parent?: string;
}

export interface World {
  readonly engine: EngineId;
  /** Starts the service with these settings in addition to those of every scenario. */
  startTarget(environment?: Readonly<Record<string, string>>, place?: TargetPlace): Promise<Target>;
  /** Measures the reads of one prompt by another caller, one every 20 ms, and samples memory, until it is stopped. */
  watch(target: Target): Promise<{ stop(): Promise<Observation> }>;
  /** Stops and removes everything that was started. */
  close(): Promise<void>;
}

/** The usual figures about other callers, with limits if they are given. */
export function figuresOf(
  seen: Observation,
  limits: {
    readonly p50?: number;
    readonly p99?: number;
    readonly serviceMebibytes?: number;
    readonly databaseMebibytes?: number;
  } = {},
): Figure[] {
  const limited = (name: string, value: number, unit: string, atMost: number | undefined): Figure => ({
    name,
    value,
    unit,
    ...(atMost === undefined ? {} : { atMost }),
  });
  return [
    { name: "others' failed reads", value: seen.failedReads, atMost: 0 },
    limited("others' p50", seen.p50, 'ms', limits.p50),
    { name: "others' p95", value: seen.p95, unit: 'ms' },
    limited("others' p99", seen.p99, 'ms', limits.p99),
    { name: "others' longest", value: seen.longest, unit: 'ms' },
    limited('memory of the service', seen.serviceMebibytes, 'MiB', limits.serviceMebibytes),
    limited('memory of the database', seen.databaseMebibytes, 'MiB', limits.databaseMebibytes),
  ];
}

/** Prepares one scenario. @param engine of the database of every service that is started */
export function createWorld(engine: EngineId): World {
  const targets: Target[] = [];
  return {
    engine,
    async startTarget(environment = {}, { parent } = {}) {
      const folder = await createDataFolder(engine, parent);
      const full = {
        ...underTest,
        DATA_DIR: folder.path,
        ...checkSetting(engine),
        ...environment,
      };
      const service = await startServiceProcess(full);
      const target: Target = { ...service, adminKey, folder, environment: full, call: callsTo(service.url) };
      targets.push(target);
      return target;
    },
    watch,
    async close() {
      for (const target of targets) {
        await target.kill();
        const databasePid = await target.folder.databasePid().catch(() => undefined);
        if (databasePid !== undefined) endProcess(databasePid);
        await target.folder.remove();
      }
    },
  };
}

function endProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has already ended.
  }
}

function callsTo(url: string): Target['call'] {
  return async (method, path, { body, key = adminKey, headers = {}, signal } = {}) => {
    const response = await send(
      { url },
      method,
      path,
      body,
      { authorization: key === null ? undefined : `Bearer ${key}`, ...headers },
      signal,
    );
    const text = await response.text();
    const isJson = /json/.test(response.headers.get('content-type') ?? '');
    return {
      status: response.status,
      headers: response.headers,
      body: isJson && text !== '' ? JSON.parse(text) : text,
    };
  };
}

async function watch(target: Target): Promise<{ stop(): Promise<Observation> }> {
  const made = await target.call('POST', '/api/v1/prompts', {
    body: { name: 'Watched', messages: [{ role: 'user', content: 'Hello' }] },
  });
  const path = `/api/v1/prompts/${(made.body as { id: string }).id}`;
  const databasePid = await target.folder.databasePid();
  const times: number[] = [];
  let failedReads = 0;
  let serviceMebibytes = 0;
  let databaseMebibytes = 0;
  const read = async (): Promise<void> => {
    const started = performance.now();
    const status = await target
      .call('GET', path, { signal: AbortSignal.timeout(10_000) })
      .then((answer) => answer.status)
      .catch(() => 0);
    times.push(performance.now() - started);
    if (status !== 200) failedReads += 1;
  };
  const sample = async (): Promise<void> => {
    const [service = 0, database = 0] = await Promise.all(
      [target.pid, databasePid].map((pid) => residentMemory(pid).catch(() => 0)),
    );
    serviceMebibytes = Math.max(serviceMebibytes, service);
    databaseMebibytes = Math.max(databaseMebibytes, database);
  };
  const underWay = new Set<Promise<void>>();
  // Reads begin on time even while earlier ones wait, as with many independent callers.
  const reading = setInterval(() => {
    if (underWay.size >= 500) return;
    const one = read().finally(() => underWay.delete(one));
    underWay.add(one);
  }, 20);
  const sampling = setInterval(() => void sample(), 100);
  return {
    async stop() {
      clearInterval(reading);
      clearInterval(sampling);
      await sample();
      await Promise.all(underWay);
      return {
        reads: times.length,
        failedReads,
        serviceMebibytes,
        databaseMebibytes,
        p50: percentile(times, 0.5),
        p95: percentile(times, 0.95),
        p99: percentile(times, 0.99),
        longest: Math.max(...times),
      };
    },
  };
}
