/** An engine in its own process, which tests stop and kill: `node engine-process.ts <uri> <database>`. */
import { openDatabase } from '../support/database.ts';
import { engineOn, takeoverTiming } from './webhooks-harness.ts';

const [uri = '', databaseName = ''] = process.argv.slice(2);
const database = await openDatabase(uri, databaseName);
engineOn(database, { timing: takeoverTiming }).start();
process.stdout.write('started\n');
