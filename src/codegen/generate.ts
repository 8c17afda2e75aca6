import { readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { isBuiltForContract } from '../built-for.ts';
import { renderClientFiles } from './client.ts';
import { completeContract } from './complete-contract.ts';
import { bundleContract, readErrorForms, readProblems, type ProblemEntry } from './contract.ts';
import type { OpenApiDocument } from './contract-document.ts';
import { renderEnvExample } from './env-example.ts';
import { bundleEventContract, listEvents, withoutReferences } from './event-contract.ts';
import { publishedSchema, renderClientEvents, renderEventTypes } from './event-files.ts';
import { renderCopies } from './copies.ts';
import { banner, jsonLines, root, writeChanged } from './generated-files.ts';
import { readGuides } from './guides.ts';
import { renderOperationTable } from './operation-table.ts';
import { addProblemReference, renderProblemTable } from './problem-table.ts';
import { renderPrices } from './prices.ts';
import { publishUnions } from './published-unions.ts';
import { makeReferencePatch } from './reference-patch.ts';
import { renderClientTypes, renderServiceTypes } from './types.ts';

const clientFolder = 'clients/typescript/src/generated';
const clientSchemas = 'clients/typescript/schemas';
/** Folders that contain only generated files, and a README. */
const generatedFolders = ['generated', clientFolder, clientSchemas, 'clients/dashboard/src/generated'];

/** The generated files that are committed: name (relative to the repository) and content. */
async function renderAll(): Promise<Map<string, string>> {
  const bundled = await bundleContract(root);
  const problems = await readProblems(root);
  const document = addProblemReference(completeContract(bundled, await readErrorForms(root)), problems);
  return new Map([
    ...(await renderApi(publishUnions(document), problems)),
    ...(await renderClient(document, problems)),
    ...(await renderEvents(bundled)),
    ['generated/prices.json', renderPrices()],
    ['.env.example', renderEnvExample()],
  ]);
}

async function renderApi(
  document: OpenApiDocument,
  problems: Record<string, ProblemEntry>,
): Promise<[string, string][]> {
  return [
    ['generated/openapi.json', jsonLines(document)],
    ['generated/reference-patch.json', jsonLines(await makeReferencePatch(document, await readGuides(root)))],
    ['generated/types.ts', banner('openapi') + renderServiceTypes(`../${clientFolder}/types.ts`)],
    ['generated/operations.ts', banner('openapi') + renderOperationTable(document, problems)],
    ['generated/problems.ts', banner('openapi') + renderProblemTable(problems)],
  ];
}

/** The generated part of `clients/typescript`. */
async function renderClient(
  document: OpenApiDocument,
  problems: Record<string, ProblemEntry>,
): Promise<[string, string][]> {
  const files = { 'types.ts': await renderClientTypes(document), ...renderClientFiles(document, problems) };
  return [
    ...Object.entries(files).map(([name, content]): [string, string] => [
      `${clientFolder}/${name}`,
      banner('openapi') + content,
    ]),
    [`${clientSchemas}/prompt-file.v1.json`, jsonLines(promptFileSchema(document), 2)],
  ];
}

/** Of the files that the client's program writes and stores. */
function promptFileSchema({ components: { schemas } }: OpenApiDocument): object {
  const $schema = 'https://json-schema.org/draft/2020-12/schema';
  return { $schema, ...Object(withoutReferences(schemas['PromptExport'], schemas)) };
}

async function renderEvents(api: OpenApiDocument): Promise<[string, string][]> {
  const document = await bundleEventContract(root);
  const events = listEvents(document, api);
  return [
    ['generated/asyncapi.json', jsonLines(document)],
    ['generated/events.ts', banner('asyncapi') + (await renderEventTypes(document, events))],
    [`${clientFolder}/events.ts`, banner('asyncapi') + renderClientEvents(events)],
    ...events.map((event): [string, string] => [
      `generated/event-schemas/${event.type}.json`,
      jsonLines(publishedSchema(event), 2),
    ]),
  ];
}

/** Files in the folders of generated files that are no longer generated. */
async function findObsolete(current: ReadonlySet<string>): Promise<string[]> {
  const listings = generatedFolders.map((folder) =>
    readdir(path.join(root, folder), { recursive: true, withFileTypes: true }),
  );
  return (await Promise.all(listings))
    .flat()
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)).replaceAll(path.sep, '/'))
    .filter((name) => !current.has(name) && !name.endsWith('/README.md'));
}

/** Writes changed files and removes obsolete ones. With `check` it only returns the files that are not current. */
export async function generate(check: boolean): Promise<string[]> {
  const files = await renderAll();
  const stale = await writeChanged(files, check);
  // They are made of those.
  const copies = await renderCopies();
  stale.push(...(await writeChanged(copies, check)));
  const obsolete = await findObsolete(new Set([...files.keys(), ...copies.keys()]));
  if (!check) for (const name of obsolete) await rm(path.join(root, name));
  return [...stale, ...obsolete];
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const check = process.argv.includes('--check');
  const stale = await generate(check);
  if (check && !(await isBuiltForContract())) stale.push('dist/validators/');
  for (const name of stale) console.log(check ? `not current: ${name} (run npm run generate)` : `wrote ${name}`);
  if (check && stale.length > 0) process.exitCode = 1;
  if (stale.length === 0) console.log('generated files are current');
}
