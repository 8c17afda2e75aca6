import { contentWarnings } from '../template.ts';
import type { PromptGateway } from '../prompt-gateway.ts';
import type { PromptFile } from '../transfer/converted.ts';
import { importFiles, type Finding, type Outcome } from './import-files.ts';
import { readFiles, writePrompt, type ReadFile } from './prompt-files.ts';
import { escapeInvisible } from './quote.ts';

export interface PushOptions {
  readonly folder: string;
  readonly isDryRun: boolean;
  /** Whether the labels of the files are set where there is none of this name. */
  readonly setsLabels: boolean;
  /** Whether versions that others made since then are replaced. */
  readonly overwrites: boolean;
  /** Whether warnings are errors. */
  readonly isStrict: boolean;
  /** Of the versions that are made. */
  readonly note: string | undefined;
}

/**
 * Stores the prompts of files, or prints what would become of them, and what is wrong with each. After that, each file
 * has the number of the version that it is stored as.
 * @returns false if one of them is refused; then nothing is stored
 */
export async function push(
  gateway: PromptGateway,
  { folder, isDryRun, overwrites, isStrict, ...change }: PushOptions,
  { write, writeError }: { readonly write: (text: string) => void; readonly writeError: (text: string) => void },
): Promise<boolean> {
  const print = (name: string, kind: '' | 'warning: ', findings: readonly Finding[]): void => {
    for (const { pointer, detail } of findings)
      writeError(`${name}${escapeInvisible(`${pointer}: ${kind}${detail}`)}\n`);
  };
  const all = await readFiles(folder);
  const files = all.flatMap((file) => ('broken' in file ? [] : [file]));
  const broken = all.flatMap((file) => ('broken' in file ? [file] : []));
  const toSend = files.map((file) => ({ ...file, prompt: toSent(file.prompt, change) }));
  const conflicts = overwrites ? 'new-version' : 'if-current';
  // All of them are checked before the first is stored.
  const checked = await importFiles(gateway, toSend, { conflicts, dry_run: true });
  const warnings = checked.map(({ status }, index) => (status === 'refused' ? [] : warningsOf(files[index])));
  const isRefused =
    broken.length > 0 ||
    checked.some(({ status }) => status === 'refused') ||
    (isStrict && warnings.some(({ length }) => length > 0));
  const isStored = !isDryRun && !isRefused;
  const outcomes = isStored ? await importFiles(gateway, toSend, { conflicts, dry_run: false }) : checked;

  for (const { name, broken: detail } of broken) writeError(`${name}: ${detail}\n`);
  for (const [index, { name }] of files.entries()) {
    const { status, errors = [], notes = [] } = outcomes[index] ?? {};
    print(name, '', errors);
    print(name, isStrict ? '' : 'warning: ', warnings[index] ?? []);
    if (status === 'created' || status === 'updated') write(`${name}: ${status}\n`);
    for (const { pointer, detail } of notes) write(`${name}${escapeInvisible(`${pointer}: ${detail}`)}\n`);
  }
  if (isStored) await Promise.all(files.map((file, index) => keepVersion(folder, file, outcomes[index])));
  const count = (wanted: string): number => outcomes.filter(({ status }) => status === wanted).length;
  const refused = count('refused') + broken.length;
  const counts = ['created', 'updated', 'unchanged'].map((status) => `${count(status)} ${status}`);
  write(`${[...counts, ...(refused > 0 ? [`${refused} refused`] : [])].join(', ')}.`);
  write(isStored ? '\n' : ' Nothing was stored.\n');
  return !isRefused && count('refused') === 0;
}

function toSent(
  { labels, ...prompt }: PromptFile,
  { setsLabels, note }: Pick<PushOptions, 'setsLabels' | 'note'>,
): PromptFile {
  const versions =
    note === undefined || !Array.isArray(prompt.versions)
      ? prompt.versions
      : prompt.versions.map((version, index, { length }) => (index === length - 1 ? { ...version, note } : version));
  return { ...prompt, ...(setsLabels && labels !== undefined && { labels }), versions };
}

/** The probable mistakes of the content that a file has. */
function warningsOf(file: ReadFile | undefined): readonly Finding[] {
  const last = (file?.prompt.versions.length ?? 0) - 1;
  const version = file?.prompt.versions[last];
  if (version === undefined) return [];
  return contentWarnings(version).map(({ pointer, detail }) => ({
    pointer: pointer.replace('#', `#/versions/${last}`),
    detail,
  }));
}

/** Writes down which version a file is stored as, so that a later push knows what it came from. */
async function keepVersion(folder: string, { name, prompt }: ReadFile, outcome: Outcome | undefined): Promise<void> {
  const [only, ...others] = prompt.versions;
  const number = outcome?.version;
  if (only === undefined || others.length > 0 || number === undefined || number === only.version) return;
  await writePrompt(folder, { ...prompt, versions: [{ ...only, version: number }] }, name);
}
