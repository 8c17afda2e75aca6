/**
 * A separate program: `node download-mongod.ts <folder> <version>` downloads a mongod into the folder if it is not
 * there, and prints `path: <path of the executable>` or `failed: <reason>` as its last line.
 */
import { MongoBinary } from 'mongodb-memory-server-core';
import { messageOf } from '../../runtime/system-error.ts';

const [downloadDir, version] = process.argv.slice(2);
if (downloadDir === undefined || version === undefined) throw new Error('usage: download-mongod.ts <folder> <version>');

try {
  const path = await MongoBinary.getPath({ downloadDir, version, checkMD5: true });
  process.stdout.write(`path: ${path}\n`);
} catch (error) {
  process.stdout.write(
    `failed: ${messageOf(error)
      .split(/\s*\n\s*/)
      .join(' ')}\n`,
  );
  // An explicit exit: an unread answer would keep its connection, and so the process, open for seconds.
  process.exit(1);
}
