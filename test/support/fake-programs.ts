import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Writes an executable shell script into a folder, in place of a program on the PATH. @returns its path */
export async function fakeProgram(folder: string, name: string, script: string): Promise<string> {
  await mkdir(folder, { recursive: true });
  const path = join(folder, name);
  await writeFile(path, `#!/bin/sh\n${script}\n`);
  await chmod(path, 0o755);
  return path;
}

/**
 * A script that accepts the command line of mongod and runs another server of the same wire protocol. So the handling
 * of mongod can be tested without a mongod. The other server requires no password: mongod lets its first user be
 * created over the loopback, the other server does not.
 */
export function mongodStandIn(secantusd: string): string {
  return `
while [ $# -gt 0 ]; do
  case "$1" in
    --port) port=$2; shift 2 ;;
    --dbpath) dbpath=$2; shift 2 ;;
    --bind_ip) host=$2; shift 2 ;;
    --wiredTigerCacheSizeGB) shift 2 ;;
    --quiet | --auth) shift ;;
    *) echo "unknown option $1" >&2; exit 2 ;;
  esac
done
exec "${secantusd}" --config "$dbpath/../secantusd.toml" --host "$host" --port "$port" --storage-path "$dbpath" --sync-on-commit
`;
}
