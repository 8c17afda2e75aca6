import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';

/** A guide of the reference page: one file in `openapi/guides/`. */
export interface Guide {
  readonly title: string;
  /** Where the reference page shows it, such as `#/rotate-secrets-key`. */
  readonly place: string;
  /** Markdown, without the title. */
  readonly text: string;
}

/** Reads the guides in the order of their file names. Each begins with its title, `# …`. */
export async function readGuides(root: string): Promise<Guide[]> {
  const folder = path.join(root, 'openapi/guides');
  const names = (await readdir(folder)).filter((name) => name.endsWith('.md')).toSorted();
  const files = await Promise.all(names.map(async (name) => [name, await readFile(path.join(folder, name), 'utf8')]));
  const guides = files.map(([name = '', content = '']) => {
    const [, title, text] = /^# (.+)\n+([^]+)$/.exec(content) ?? [];
    if (title === undefined || text === undefined) throw new Error(`openapi/guides/${name} has no title`);
    return { name, title, text };
  });
  const places = new Map(guides.map(({ name, title }) => [name, placeOf(title)]));
  return guides.map(({ title, text }) => ({ title, place: placeOf(title), text: linkPlaces(text, places) }));
}

/** Renders the titles and places of the guides, for the search of the dashboard. */
export function renderGuideList(guides: readonly Guide[]): string {
  const entries = guides.map(({ title, place }) => `  ${JSON.stringify({ title, place })},\n`);
  return `export const guides: readonly { title: string; place: string }[] = [\n${entries.join('')}];\n`;
}

/** Links between the files, which work where the repository is read, become links between sections of the page. */
function linkPlaces(text: string, places: ReadonlyMap<string, string>): string {
  return text.replaceAll(/\]\(([\w-]+\.md)\)/g, (_link, name: string) => {
    const place = places.get(name);
    if (place === undefined) throw new Error(`there is no guide ${name}`);
    return `](${place})`;
  });
}

/** Where the reference page shows a section with this title. */
export function placeOf(title: string): string {
  return `#/${title.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')}`;
}
