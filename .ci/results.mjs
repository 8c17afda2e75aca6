// Reads reports of Jest (`--json`).
//   results.mjs failed REPORT          prints the test files that failed
//   results.mjs count FOLDER STATUS    prints the results of all runs; a STATUS other than 0 is a failure that no test shows
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

const [, , task, place, status] = process.argv;
const read = (file) => (existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).testResults : []);
const failedFiles = (report) =>
  report.filter(({ name, status }) => status === 'failed' && name.endsWith('.test.ts')).map(({ name }) => name);

if (task === 'failed') {
  for (const name of failedFiles(read(place))) console.log(name);
} else {
  const reports = (isAgain) =>
    readdirSync(place)
      .filter((name) => name.endsWith('-again') === isAgain)
      .flatMap((name) => read(path.join(place, name)));
  const [first, again] = [reports(false), reports(true)];
  const failedFirst = failedFiles(first);
  for (const { name, status } of again) {
    if (failedFirst.includes(name) && status === 'passed') console.log(`flaky: ${path.relative('.', name)}`);
  }
  // The last result of a file counts.
  const files = [...new Map([...first, ...again].map((file) => [file.name, file])).values()];
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
