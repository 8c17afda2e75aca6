/**
 * A process that runs an embedded database until it is killed: `node embedded-process.ts <data folder> <cache folder>
 * <engine>`. It prints the URI when it is ready, and stops the database when its standard input ends.
 */
import { engineIdSchema } from '../../src/storage/db/embedded/engines.ts';
import { startEmbeddedDatabase } from '../../src/storage/db/embedded/embedded-database.ts';
import { silentLog } from './log.ts';

const [dataDir = '', cacheDir = '', engine] = process.argv.slice(2);
const database = await startEmbeddedDatabase({
  dataDir,
  cacheDir,
  env: process.env,
  log: silentLog,
  engines: [engineIdSchema.parse(engine)],
});
process.stdout.write(`${database.uri}\n`);
process.stdin.resume();
process.stdin.on('end', () => {
  void database.stop().then(() => process.exit(0));
});
