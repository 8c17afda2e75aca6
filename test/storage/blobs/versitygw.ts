import { spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { once } from 'node:events';
import type { S3BlobStoreOptions } from '../../../src/storage/blobs/s3-blob-store.ts';
import { reservePort } from '../../support/ports.ts';

/** The path of the S3 gateway versitygw (https://github.com/versity/versitygw), if it is on the PATH. */
export function findVersitygw(): string | undefined {
  return (process.env['PATH'] ?? '')
    .split(delimiter)
    .map((folder) => join(folder, 'versitygw'))
    .find((file) => {
      try {
        accessSync(file, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}

/** Starts it on a temporary folder. Each folder in it is a bucket. */
export async function startVersitygw(
  executable: string,
): Promise<{ options: S3BlobStoreOptions; stop: () => Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'versitygw-'));
  await mkdir(join(folder, 'test-bucket'));
  const port = await reservePort();
  const credentials = { accessKeyId: 'root-access', secretAccessKey: 'root-secret' };
  const server = spawn(executable, ['--port', `127.0.0.1:${port}`, '--quiet', 'posix', folder], {
    env: { ROOT_ACCESS_KEY: credentials.accessKeyId, ROOT_SECRET_KEY: credentials.secretAccessKey },
    stdio: 'ignore',
  });
  const exited = once(server, 'exit');
  const endpoint = `http://127.0.0.1:${port}`;
  for (let attempts = 0; ; attempts++) {
    const isUp = await fetch(endpoint).then(
      () => true,
      () => false,
    );
    if (isUp) break;
    if (attempts > 100 || server.exitCode !== null) throw new Error('versitygw did not start');
    await sleep(50);
  }
  return {
    options: {
      bucket: 'test-bucket',
      endpoint,
      region: 'us-east-1',
      forcePathStyle: true,
      checksums: 'when-supported',
      prefix: 'gateway/',
      credentials,
    },
    async stop() {
      server.kill();
      await exited;
      await rm(folder, { recursive: true });
    },
  };
}
