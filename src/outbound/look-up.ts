import { promises as dns } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { LRUCache } from 'lru-cache';
import { readSystemNames, systemFiles, type Address, type SystemFiles, type SystemNames } from './system-files.ts';
import { hasCode } from '../runtime/system-error.ts';
import { within } from '../runtime/within.ts';

export type { Address } from './system-files.ts';

/**
 * Finds all addresses of a host name; at least one.
 * @throws an Error with a `code` such as `ENOTFOUND`, `ETIMEOUT` or `ESERVFAIL`
 */
export type LookUp = (hostname: string) => Promise<readonly Address[]>;

export interface LookUpOptions {
  /** Name servers as `address` or `address:port`; those of the system when left out. */
  readonly servers?: readonly string[] | undefined;
  /** Milliseconds for one look-up. */
  readonly timeoutMs?: number;
  /** Milliseconds for which a failure is remembered. */
  readonly rememberMs?: number;
  readonly files?: SystemFiles;
  /** The system's own resolver. */
  readonly askSystem?: LookUp;
}

/** Milliseconds after which the files of the system are read anew. */
const filesAge = 5_000;
/** Milliseconds for which IPv6 addresses are waited for when there are others (see RFC 8305, section 3). */
const resolutionDelay = 100;
/** Names whose failure is remembered. */
const maxRemembered = 1_000;
/** Look-ups that may wait for the system's resolver. */
const waitingForSystem = 16;

/**
 * Makes a look-up that cannot be blocked by names whose servers do not answer.
 *
 * `dns.lookup` works on the threads that all look-ups of the process share, and a name that is not answered keeps one
 * of them for many seconds. So names are looked up as the system does it, in the hosts file, as `localhost`, and in DNS
 * with the domains of resolv.conf, but by asynchronous queries with a time limit. Callers who want the same name share
 * one look-up, and failures are remembered for some seconds. Addresses are not: who connects gets present ones.
 *
 * Only names that DNS cannot know (of one label, or in `.local`) are left to the system's own resolver after that, one
 * at a time.
 */
export function createLookUp({
  servers,
  timeoutMs = 3_000,
  rememberMs = 3_000,
  files = systemFiles,
  askSystem = async (name) => (await dns.lookup(name, { all: true })) as Address[],
}: LookUpOptions = {}): LookUp {
  const failures = new LRUCache<string, { readonly error: unknown }>({ max: maxRemembered, ttl: rememberMs });
  const inProgress = new Map<string, Promise<readonly Address[]>>();
  const system = oneAtATime(askSystem);
  const readNames = createFileReader(files);
  let resolver: { readonly of: string; readonly dns: dns.Resolver } | undefined;

  /** The system's servers are read when a resolver is made, so one is made for each resolv.conf. */
  const resolverFor = ({ resolvText }: SystemNames): dns.Resolver => {
    if (resolver?.of !== resolvText) {
      const made = new dns.Resolver({ timeout: 1_000, tries: 2, maxTimeout: 2_000 });
      if (servers !== undefined) made.setServers([...servers]);
      resolver = { of: resolvText, dns: made };
    }
    return resolver.dns;
  };

  const find = async (hostname: string): Promise<readonly Address[]> => {
    const names = await readNames();
    const name = hostname.replace(/\.$/, '');
    const known = names.hosts.get(name);
    if (known !== undefined) return known;
    if (name === 'localhost' || name.endsWith('.localhost')) return loopback;
    const isLocal = !name.includes('.') || name.endsWith('.local');
    try {
      return await askInTurn(resolverFor(names), candidates(hostname, names));
    } catch (error) {
      if (!isLocal || !isUnknownName(error)) throw error;
      return await system(name);
    }
  };

  const findInTime = async (name: string): Promise<readonly Address[]> => {
    try {
      return await within(timeoutMs, find(name), () => {
        throw lookUpError('ETIMEOUT');
      });
    } catch (error) {
      failures.set(name, { error });
      throw error;
    } finally {
      inProgress.delete(name);
    }
  };

  return async (hostname) => {
    const name = hostname.toLowerCase();
    const failure = failures.get(name);
    if (failure !== undefined) throw failure.error;
    let found = inProgress.get(name);
    if (found === undefined) inProgress.set(name, (found = findInTime(name)));
    return await found;
  };
}

/**
 * A look-up as `net.connect` takes it.
 * @param check throws when a connection to any of the addresses is not permitted
 */
export function toLookupFunction(
  lookUp: LookUp,
  check: (addresses: readonly Address[]) => void = () => undefined,
): LookupFunction {
  return (hostname, { family, all }, callback) => {
    lookUp(hostname)
      .then((found) => {
        check(found);
        const wanted = found.filter((each) => fits(family, each.family));
        const [first] = wanted;
        if (first === undefined) throw lookUpError('ENOTFOUND');
        return { first, wanted };
      })
      .then(
        ({ first, wanted }) => {
          if (all === true) callback(null, [...wanted]);
          else callback(null, first.address, first.family);
        },
        (error: unknown) => {
          callback(error as NodeJS.ErrnoException, []);
        },
      );
  };
}

const loopback: readonly Address[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

/** Names that a name may stand for, in the order in which they are tried (see resolv.conf(5)). */
function candidates(hostname: string, { search, ndots }: Pick<SystemNames, 'search' | 'ndots'>): string[] {
  if (hostname.endsWith('.')) return [hostname.slice(0, -1)];
  const searched = search.map((domain) => `${hostname}.${domain}`);
  const dots = hostname.split('.').length - 1;
  return dots >= ndots ? [hostname, ...searched] : [...searched, hostname];
}

/** Goes on to the next name when one has no address, not when nobody could say. */
async function askInTurn(resolver: dns.Resolver, names: readonly string[]): Promise<readonly Address[]> {
  let failure: unknown;
  for (const name of names) {
    try {
      return await ask(resolver, name);
    } catch (error) {
      failure = error;
      if (!isUnknownName(error)) break;
    }
  }
  throw failure;
}

async function ask(resolver: dns.Resolver, name: string): Promise<readonly Address[]> {
  const four = resolver.resolve4(name);
  const six = resolver.resolve6(name);
  const sixOrNone = six.catch(() => []);
  const addresses4 = await four.catch(() => []);
  const addresses6 = await (addresses4.length === 0 ? sixOrNone : within(resolutionDelay, sixOrNone, () => []));
  const found = [...addresses4.map(withFamily(4)), ...addresses6.map(withFamily(6))];
  if (found.length > 0) return found;
  const outcomes = await Promise.allSettled([four, six]);
  const errors = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as unknown] : []));
  throw errors.find((error) => !isUnknownName(error)) ?? lookUpError('ENOTFOUND');
}

function withFamily(family: 4 | 6): (address: string) => Address {
  return (address) => ({ address, family });
}

/** The name has no address, as against: nobody could say. */
function isUnknownName(error: unknown): boolean {
  return hasCode(error, 'ENOTFOUND') || hasCode(error, 'ENODATA');
}

function lookUpError(code: 'ENOTFOUND' | 'ETIMEOUT'): Error {
  return Object.assign(new Error(`look-up of a name failed: ${code}`), { code });
}

function fits(wanted: number | 'IPv4' | 'IPv6' | undefined, family: number): boolean {
  return wanted === undefined || wanted === 0 || wanted === family || wanted === `IPv${family}`;
}

/** So that the system's resolver never has more than one of the threads that all look-ups share. */
function oneAtATime(lookUp: LookUp): LookUp {
  let last: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  return (name) => {
    if (waiting >= waitingForSystem) return Promise.reject(lookUpError('ENOTFOUND'));
    waiting += 1;
    const found = last.then(() => lookUp(name));
    last = found
      .catch(() => undefined)
      .finally(() => {
        waiting -= 1;
      });
    return found;
  };
}

function createFileReader(files: SystemFiles): () => Promise<SystemNames> {
  let present: { readonly names: Promise<SystemNames>; readonly readAt: number } | undefined;
  return () => {
    const at = performance.now();
    if (present === undefined || at - present.readAt > filesAge)
      present = { names: readSystemNames(files), readAt: at };
    return present.names;
  };
}
