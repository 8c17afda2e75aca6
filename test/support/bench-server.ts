import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { identify } from '../../src/storage/db/embedded/identity.ts';
import { isRunning } from '../../src/storage/db/embedded/processes.ts';
import { secantusArgs } from '../../src/storage/db/embedded/secantus.ts';
import { freePort, launchServer, stopServer } from '../../src/storage/db/embedded/server-process.ts';

/** Milliseconds between two looks whether the server still runs. */
const lookEveryMs = 100;

/** A server of SecantusDB, with its files in a folder. Like the service's own server, it is started again when it ends. */
export interface BenchServer {
  readonly uri: string;
  readonly product: string;
  pid(): number;
  stop(): Promise<void>;
}

/** @param command the path of the program, which is not one of those that the service starts */
export async function startBenchServer(command: string, folder: string, syncsWrites: boolean): Promise<BenchServer> {
  await writeFile(path.join(folder, 'secantusd.toml'), '');
  const [port, storagePath] = [await freePort(), path.join(folder, 'files')];
  await mkdir(storagePath);
  const access = { port, password: undefined };
  const launch = () =>
    launchServer({
      command,
      port,
      storagePath,
      logPath: path.join(folder, 'server.log'),
      env: process.env,
      args: secantusArgs({ port, storagePath, cacheMebibytes: 256, auth: false, syncsWrites }),
      identify: () => identify(access).catch(() => undefined),
    });
  let server = await launch();
  let launching: Promise<void> | undefined;
  const look = setInterval(() => {
    if (isRunning(server.pid)) return;
    launching ??= launch()
      .then((launched) => {
        server = launched;
      })
      .finally(() => (launching = undefined));
  }, lookEveryMs);
  return {
    uri: `mongodb://127.0.0.1:${port}/?directConnection=true`,
    product: server.identity.product,
    pid: () => server.pid,
    async stop() {
      clearInterval(look);
      await launching;
      await stopServer(server.pid);
    },
  };
}
