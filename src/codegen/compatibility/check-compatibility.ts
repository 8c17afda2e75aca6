import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { findBreakingChanges } from './breaking-changes.ts';
import { intendedFile, readContracts, readIntended, releasedFolder } from './contract-files.ts';
import { findUnintended } from './intended-changes.ts';
import { makeReleasedCopy } from './released-copy.ts';

const root = path.resolve(import.meta.dirname, '../../..');
const released = releasedFolder(root);
const current = path.join(root, 'generated');
const noIntendedChanges = `# Changes since the last release that break callers or receivers and are meant to, each with its reason. \`npm run check\`
# prints the names of changes; in a name, * stands for any text. Each entry must match a change. For example:
#
# - reason: The field was always empty.
#   changes:
#     - 'getOrder answer 200 .table: removed'
[]
`;

/** Stores the generated contract as the base for later comparisons. */
async function release(): Promise<void> {
  await mkdir(released, { recursive: true });
  const { api, events } = await readContracts(current);
  await writeFile(path.join(released, 'openapi.json'), makeReleasedCopy(api));
  await writeFile(path.join(released, 'asyncapi.json'), makeReleasedCopy(events));
  await writeFile(intendedFile(root), noIntendedChanges);
}

async function check(): Promise<void> {
  const [before, after] = await Promise.all([readContracts(released), readContracts(current)]);
  const unintended = findUnintended(findBreakingChanges(before, after), await readIntended(root));
  if (unintended.length === 0) return;
  process.exitCode = 1;
  console.log(`Since ${before.api.info.version} the contract has changed in ways that break callers or receivers:`);
  for (const change of unintended) console.log(`  ${change}`);
  console.log('Undo these changes, or list them with their reason in openapi/released/intended-changes.yaml.');
}

await (process.argv.includes('--release') ? release() : check());
