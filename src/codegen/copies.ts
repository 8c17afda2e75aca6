import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import type { OpenApiDocument } from './contract-document.ts';
import { banner, root } from './generated-files.ts';
import { readGuides, renderGuideList } from './guides.ts';
import { renderLimits } from './limits.ts';

const client = 'clients/typescript';
const dashboard = 'clients/dashboard/src/generated';
const templates = 'src/prompts/templates';
const eventSchemas = 'generated/event-schemas';

/**
 * What client and dashboard need of files that are committed elsewhere: name (relative to the repository) and content. `npm ci`
 * makes them, and git ignores them.
 */
export async function renderCopies(): Promise<Map<string, string>> {
  const document = JSON.parse(await read('generated/openapi.json')) as OpenApiDocument;
  return new Map([
    [
      `${client}/src/generated/version.ts`,
      `${banner('openapi')}/** The release of the service that this client was made with. */\nexport const version = '${document.info.version}';\n`,
    ],
    // The client renders previews with the code of the service, and its package cannot import the sources of the service.
    ...(await copyAll(
      templates,
      (name) => `${client}/src/generated/template/${name}`,
      (text) => banner(templates) + text,
    )),
    ...(await copyAll(
      eventSchemas,
      (name) => `${client}/schemas/${name.replace(/\.json$/, '.v1.json')}`,
      // As the service sends them.
      (text) => `${JSON.stringify(JSON.parse(text), null, 2)}\n`,
    )),
    [`${dashboard}/limits.ts`, banner('openapi') + renderLimits(document)],
    [`${dashboard}/guides.ts`, banner('openapi') + renderGuideList(await readGuides(root))],
  ]);
}

const read = (name: string): Promise<string> => readFile(path.join(root, name), 'utf8');

async function copyAll(
  folder: string,
  target: (name: string) => string,
  change: (text: string) => string,
): Promise<[string, string][]> {
  const names = (await readdir(path.join(root, folder))).toSorted();
  return Promise.all(
    names.map(async (name): Promise<[string, string]> => [target(name), change(await read(`${folder}/${name}`))]),
  );
}
