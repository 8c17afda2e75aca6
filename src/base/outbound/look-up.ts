import { promises as dns } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { readSystemNames, systemFiles, type Address, type SystemFiles, type SystemNames } from './system-files.ts';
import { createFairQueue } from '../limits/fair-queue.ts';
import { hasCode } from '../runtime/system-error.ts';
import { within } from '../runtime/within.ts';

export type { Address } from './system-files.ts';

/**
 * Finds all addresses of a host name; at least one.
 * @throws an Error with a `code` such as `ENOTFOUND`, `ETIMEOUT` or `ESERVFAIL`
 */
export type LookUp = (hostname: string) => Promise<readonly Address[]>;

export interface LookUpOptions {
  /** Name servers as `address` or `address:port`; those of the system if left out. */
  readonly servers?: readonly string[] | undefined;
  /** Time limit of one look-up, in milliseconds. */
  readonly timeoutMs?: number;
  readonly files?: SystemFiles;
  /** The system's own resolver. */
  readonly askSystem?: LookUp;
}

/** How long to wait for IPv6 addresses if there are others, in milliseconds (see RFC 8305, section 3). */
const resolutionDelay = 100;
/** The most look-ups that can wait for the system's resolver. */
const waitingForSystem = 16;

/**
 * Creates a look-up that names whose servers do not answer cannot block.
 *
 * `dns.lookup` works on the threads that all look-ups of the process share, and a name without an answer blocks one of
 * them for many seconds (`silent-names` in the hostile tests). So names are looked up as the system does it, in the hosts file, as `localhost`, and in DNS
 * with the domains of resolv.conf, but by asynchronous queries with a time limit. Callers with the same name share one
 * look-up. Addresses are not cached, so that connections use current ones.
 *
 * Then only names that DNS cannot know (of one label, or in `.local`) are looked up by the system's own resolver, one
 * at a time.
 */
export function createLookUp({
  servers,
  timeoutMs = 3_000,
  files = systemFiles,
  askSystem = async (name) => (await dns.lookup(name, { all: true })) as Address[],
}: LookUpOptions = {}): LookUp {
  const inProgress = new Map<string, Promise<readonly Address[]>>();
  /** So the system's resolver never uses more than one of the threads that all look-ups share. */
  const system = createFairQueue({ places: 1, maxWaiting: waitingForSystem });
  let resolver: { readonly of: string; readonly dns: dns.Resolver } | undefined;

  /** A resolver reads the system's servers when it is created, so there is a new one for each resolv.conf. */
  const resolverFor = ({ resolvText }: SystemNames): dns.Resolver => {
    if (resolver?.of !== resolvText) {
      const made = new dns.Resolver({ timeout: 1_000, tries: 2, maxTimeout: 2_000 });
      if (servers !== undefined) made.setServers([...servers]);
      resolver = { of: resolvText, dns: made };
    }
    return resolver.dns;
  };

  const find = async (hostname: string): Promise<readonly Address[]> => {
    const names = await readSystemNames(files);
    const name = hostname.replace(/\.$/, '');
    const known = names.hosts.get(name);
    if (known !== undefined) return known;
    if (name === 'localhost' || name.endsWith('.localhost')) return loopback;
    const isLocal = !name.includes('.') || name.endsWith('.local');
    try {
      return await askInTurn(resolverFor(names), candidates(hostname, names));
    } catch (error) {
      if (!isLocal || !isUnknownName(error)) throw error;
      const leave = await system.enter({ key: name }).catch(() => {
        throw lookUpError('ENOTFOUND');
      });
      try {
        return await askSystem(name);
      } finally {
        leave();
      }
    }
  };

  const findInTime = async (name: string): Promise<readonly Address[]> => {
    try {
      return await within(timeoutMs, find(name), () => {
        throw lookUpError('ETIMEOUT');
      });
    } finally {
      inProgress.delete(name);
    }
  };

  return async (hostname) => {
    const name = hostname.toLowerCase();
    let found = inProgress.get(name);
    if (found === undefined) inProgress.set(name, (found = findInTime(name)));
    return await found;
  };
}

/**
 * A look-up in the form of `net.connect`.
 * @param check throws if a connection to one of the addresses is not permitted
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

/** The full names that a name can mean, in the order of the attempts (see resolv.conf(5)). */
function candidates(hostname: string, { search, ndots }: Pick<SystemNames, 'search' | 'ndots'>): string[] {
  if (hostname.endsWith('.')) return [hostname.slice(0, -1)];
  const searched = search.map((domain) => `${hostname}.${domain}`);
  const dots = hostname.split('.').length - 1;
  return dots >= ndots ? [hostname, ...searched] : [...searched, hostname];
}

/** Continues with the next name if one has no address, but not if no server answered. */
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

/** Whether the error says that the name has no address; otherwise no server answered. */
function isUnknownName(error: unknown): boolean {
  return hasCode(error, 'ENOTFOUND') || hasCode(error, 'ENODATA');
}

function lookUpError(code: 'ENOTFOUND' | 'ETIMEOUT'): Error {
  return Object.assign(new Error(`look-up of a name failed: ${code}`), { code });
}

function fits(wanted: number | 'IPv4' | 'IPv6' | undefined, family: number): boolean {
  return wanted === undefined || wanted === 0 || wanted === family || wanted === `IPv${family}`;
}
