/**
 * A separate program: `node download-mongod.ts <folder> <version>` downloads a mongod into the folder if it is not
 * there, and prints `path: <path of the executable>` or `failed: <reason>` as its last line.
 */
import { MongoBinary } from 'mongodb-memory-server-core';
import { messageOf } from '../../../base/runtime/system-error.ts';

const [downloadDir = '', version = ''] = process.argv.slice(2);
try {
  process.stdout.write(`path: ${await MongoBinary.getPath({ downloadDir, version, checkMD5: true })}\n`);
} catch (error) {
  process.stdout.write(`failed: ${messageOf(error).replaceAll(/\s*\n\s*/g, ' ')}\n`);
  // An explicit exit: an unread answer would keep its connection, and so the process, open for seconds.
  process.exit(1);
}
