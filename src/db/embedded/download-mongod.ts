/**
 * A program of its own: `node download-mongod.ts <folder> <version>` downloads a mongod into the folder unless it is
 * there, and prints `path: <path of the executable>` as its last line.
 */
import { MongoBinary } from 'mongodb-memory-server-core';

const [downloadDir, version] = process.argv.slice(2);
if (downloadDir === undefined || version === undefined) throw new Error('usage: download-mongod.ts <folder> <version>');

try {
  const path = await MongoBinary.getPath({ downloadDir, version, checkMD5: true });
  process.stdout.write(`path: ${path}\n`);
} catch (error) {
  process.stdout.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
