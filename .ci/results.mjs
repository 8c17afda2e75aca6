// Reads reports of Jest (`--json`).
//   results.mjs failed FOLDER          prints the test files that failed in the first run
//   results.mjs count FOLDER STATUS    prints the results of all runs; STATUS is the exit code of the last command
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

const [, , task, folder, status] = process.argv;
const read = (name) => {
  const file = path.join(folder, name);
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).testResults : undefined;
};
const first = read('first');
const again = read('again') ?? [];
const failedFirst = (first ?? [])
  .filter(({ name, status }) => status === 'failed' && name.endsWith('.test.ts'))
  .map(({ name }) => name);

if (task === 'failed') {
  for (const name of failedFirst) console.log(name);
} else {
  for (const { name, status } of again) {
    if (failedFirst.includes(name) && status === 'passed') console.log(`flaky: ${path.relative('.', name)}`);
  }
  // The last result of a file counts.
  const files = [...new Map([...(first ?? []), ...again].map((file) => [file.name, file])).values()];
  const tests = files.flatMap(({ assertionResults }) => assertionResults);
  const count = (...statuses) => tests.filter((test) => statuses.includes(test.status)).length;
  const broken = files.filter((file) => file.status === 'failed' && !file.assertionResults.some(isFailed)).length;
  let failed = count('failed') + broken;
  // A check failed, but no test.
  if (status !== '0' && failed === 0) failed = 1;
  const skipped = count('pending', 'todo', 'skipped', 'disabled');
  console.log(`${count('passed')} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
  process.exitCode = failed === 0 ? 0 : 1;
}

function isFailed({ status }) {
  return status === 'failed';
}
