/** An engine in its own process, which tests stop and kill: `node engine-process.ts <uri> <database>`. */
import { connectDatabase } from '../../src/db/client.ts';
import { silentLog } from '../support/log.ts';
import { engineOn, takeoverTiming } from './webhooks-harness.ts';

const [uri = '', databaseName = ''] = process.argv.slice(2);
const database = await connectDatabase({ uri, databaseName, log: silentLog });
engineOn(database, { timing: takeoverTiming }).start();
process.stdout.write('started\n');
