import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';

/** An address of a host. */
export interface Address {
  readonly address: string;
  readonly family: 4 | 6;
}

/** The system's settings for names; see hosts(5) and resolv.conf(5). */
export interface SystemNames {
  /** Addresses of the hosts file by name in lower case. */
  readonly hosts: ReadonlyMap<string, readonly Address[]>;
  /** Domains in which relative names are searched. */
  readonly search: readonly string[];
  /** A name with fewer dots is searched in these domains first. */
  readonly ndots: number;
  /** The whole resolv.conf, to detect changes. */
  readonly resolvText: string;
}

export interface SystemFiles {
  readonly hosts: string;
  readonly resolv: string;
}

export const systemFiles: SystemFiles = { hosts: '/etc/hosts', resolv: '/etc/resolv.conf' };

/** Reads both files. A missing file counts as empty. */
export async function readSystemNames(files: SystemFiles): Promise<SystemNames> {
  const [hosts, resolvText] = await Promise.all([files.hosts, files.resolv].map(readIfThere));
  return { hosts: parseHosts(hosts ?? ''), resolvText: resolvText ?? '', ...parseSearch(resolvText ?? '') };
}

async function readIfThere(file: string): Promise<string> {
  return readFile(file, 'utf8').catch(() => '');
}

function parseHosts(text: string): Map<string, Address[]> {
  const hosts = new Map<string, Address[]>();
  for (const line of text.split('\n')) {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    const family = isIP(address);
    if (family !== 4 && family !== 6) continue;
    for (const name of names.map((each) => each.toLowerCase())) {
      const known = hosts.get(name) ?? [];
      if (!known.some((each) => each.address === address)) hosts.set(name, [...known, { address, family }]);
    }
  }
  return hosts;
}

function parseSearch(text: string): Pick<SystemNames, 'search' | 'ndots'> {
  let search: string[] = [];
  let ndots = 1;
  for (const line of text.split('\n')) {
    const [keyword = '', ...words] = line
      .replace(/[#;].*/, '')
      .trim()
      .split(/\s+/);
    // If there are several lines, the last one applies.
    if (keyword === 'search' || keyword === 'domain') search = words.filter((word) => word !== '.').slice(0, 6);
    if (keyword !== 'options') continue;
    for (const word of words) {
      const [, dots] = /^ndots:(\d{1,2})$/.exec(word) ?? [];
      if (dots !== undefined) ndots = Math.min(Number(dots), 15);
    }
  }
  return { search, ndots };
}
