import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { components } from '../generated/types.ts';
import type { PromptGateway } from '../prompt-gateway.ts';
import { pushDataset } from './datasets.ts';
import { junitReport } from './junit.ts';
import { FileError, readText } from './read-text.ts';
import { createProgress } from './progress.ts';
import { escapeInvisible } from './quote.ts';
import { HiddenResultsError, readResults, reasonsOf } from './results.ts';
import { describeVerdict, money } from './verdict-text.ts';

type Schemas = components['schemas'];
type Evaluation = Schemas['Evaluation'];

/** Files for the reports. */
interface ReportFiles {
  readonly junit: string | undefined;
  readonly json: string | undefined;
}

export interface EvaluateOptions extends ReportFiles {
  readonly slug: string;
  /** A number or a label; undefined for the latest version. */
  readonly version: string | undefined;
  readonly against: string | undefined;
  /** A file of cases, or the name of a data set, with `@<version>` of one of its versions. */
  readonly dataset: string;
  /** A file with a list of checks as JSON. */
  readonly checks: string | undefined;
  readonly rule: Schemas['EvaluationRule'];
  readonly isDryRun: boolean;
}

export interface EvaluateForGateOptions extends ReportFiles {
  readonly slug: string;
  /** A number or a label; undefined for the latest version. */
  readonly version: string | undefined;
  /** The label whose gate asks. */
  readonly label: string;
}

export interface EvaluateWorld {
  readonly write: (text: string) => void;
  readonly writeError: (text: string) => void;
  /** Whether errors are written to a terminal. */
  readonly isTerminal?: boolean;
  /** Aborted when the user interrupts the program. */
  readonly interruption?: () => AbortSignal;
}

const exitCodes = { passed: 0, couldNotRun: 1, failed: 3, inconclusive: 4 } as const;

/** The most regressed cases that are printed. */
const mostPrinted = 20;
const pollMs = 1_000;

/**
 * Stores the cases if they are in a file, evaluates, waits, and prints the verdict with the cases that did not pass.
 * @returns the exit code
 * @throws {FileError} @throws {FormatError} @throws {GatewayError}
 */
export async function evaluate(
  open: () => PromptGateway,
  { slug, version, against, dataset, checks, rule, isDryRun, ...files }: EvaluateOptions,
  world: EvaluateWorld,
): Promise<number> {
  const { write, writeError } = world;
  const interrupted = world.interruption?.();
  const gateway = open();
  const sentChecks = checks === undefined ? {} : { checks: await readChecks(checks) };
  const cases = isFile(dataset) ? await pushDataset(open, datasetName(dataset), dataset, world) : referenceOf(dataset);
  if (cases === undefined) return exitCodes.couldNotRun;
  const started = await gateway.evaluations.create(slug, {
    candidate: sideOf(version),
    ...(against !== undefined && { baseline: sideOf(against) }),
    dataset: cases,
    ...sentChecks,
    rule,
    ...(isDryRun && { dry_run: true }),
  });
  if (!('id' in started)) {
    for (const mistake of started.refusal?.mistakes ?? []) writeError(`${mistakeText(mistake)}\n`);
    write(
      `${started.calls} calls, which cost ${started.ceiling === null ? 'an unknown amount' : `at most ${money(started.ceiling)}`}.\n`,
    );
    return started.refusal === undefined ? exitCodes.passed : exitCodes.couldNotRun;
  }
  return await report(gateway, slug, started, files, interrupted, world);
}

/**
 * Answers the questions of a gate about a version that are open, and says whether the gate lets it in.
 * @returns the exit code
 * @throws {FileError} @throws {GatewayError}
 */
export async function evaluateForGate(
  open: () => PromptGateway,
  { slug, version, label, ...files }: EvaluateForGateOptions,
  world: EvaluateWorld,
): Promise<number> {
  const { write, writeError } = world;
  const interrupted = world.interruption?.();
  const gateway = open();
  const number = await numberOf(gateway, slug, version);
  const ask = (): Promise<Schemas['GatedVersion']> => gateway.gates.getVersion(slug, label, number);
  for (const { against, evaluable } of (await ask()).comparisons) {
    if (!evaluable) continue;
    const body = { version: number, against: against as Schemas['GateComparisonName'] };
    const started = await gateway.gates.createEvaluation(slug, label, body);
    const code = await report(gateway, slug, started, files, interrupted, world);
    if (code === exitCodes.couldNotRun) return code;
  }
  const { releasable, reasons = [], comparisons } = await ask();
  for (const reason of reasons) writeError(`${escapeInvisible(reason)}\n`);
  write(`The gate of ${label} ${releasable ? 'lets' : 'does not let'} version ${number} in.\n`);
  if (releasable) return exitCodes.passed;
  const isOpen = comparisons.some(({ status }) => status === 'inconclusive' || status === 'running');
  const hasFailed = comparisons.some(({ status }) => status === 'failed');
  return isOpen && !hasFailed ? exitCodes.inconclusive : exitCodes.failed;
}

async function numberOf(gateway: PromptGateway, slug: string, version: string | undefined): Promise<number> {
  const { version: number, label } = sideOf(version);
  if (label !== undefined) return (await gateway.labels.get(slug, label)).version;
  return number ?? (await gateway.prompts.get(slug)).version;
}

/** Prints the cases that did not pass, and writes the report. @throws {ResultsError} */
async function showCases(
  gateway: PromptGateway,
  slug: string,
  evaluation: Evaluation,
  files: ReportFiles,
  write: EvaluateWorld['write'],
): Promise<void> {
  const { id } = evaluation;
  const outcome = evaluation.baseline === undefined ? 'failed' : 'regressed';
  let printed = 0;
  for await (const result of readResults(gateway, id, outcome)) {
    if (printed === mostPrinted) {
      write('…\n');
      break;
    }
    if (printed === 0) write(`Cases that ${outcome}:\n`);
    printed += 1;
    write(`- ${escapeInvisible(result.case)}: ${escapeInvisible(reasonsOf(result.candidate).join(' '))}\n`);
  }
  if (files.junit !== undefined) {
    let report = '';
    for await (const text of junitReport(slug, evaluation, readResults(gateway, id))) report += text;
    await writeReport(files.junit, report);
  }
}

/** Waits until an evaluation has ended, and says how it went. @returns the exit code */
async function report(
  gateway: PromptGateway,
  slug: string,
  started: Evaluation,
  files: ReportFiles,
  interrupted: AbortSignal | undefined,
  world: EvaluateWorld,
): Promise<number> {
  const { write, writeError } = world;
  const evaluation = await wait(gateway, started, interrupted, world);
  if (files.json !== undefined) await writeReport(files.json, `${JSON.stringify(evaluation, undefined, 2)}\n`);
  const { id, verdict, status } = evaluation;
  for (const { problem, answers } of evaluation.problems ?? []) {
    writeError(`${answers} ${answers === 1 ? 'answer was' : 'answers were'} not to be had: ${problem}\n`);
  }
  if (verdict === undefined) {
    for (const mistake of evaluation.refusal?.mistakes ?? []) writeError(`${mistakeText(mistake)}\n`);
    writeError(`The evaluation ${id} is ${status}${endOf(evaluation)}.\n`);
    return exitCodes.couldNotRun;
  }
  try {
    await showCases(gateway, slug, evaluation, files, write);
  } catch (error) {
    if (!(error instanceof HiddenResultsError)) throw error;
    // The verdict needs no cases.
    const report = files.junit === undefined ? '' : ' There is no report for JUnit.';
    writeError(`The cases are not shown: this key lacks datasets:read, or is limited to some prompts.${report}\n`);
  }
  for (const { prompt, version, model, same_family: isOwn } of evaluation.judges ?? []) {
    if (!isOwn) continue;
    write(`The judge ${prompt}, version ${version}, runs on ${model}, which is of the candidate's family.\n`);
  }
  write(
    `${describeVerdict(evaluation, verdict)}\nIt cost ${evaluation.cost === null ? 'an unknown amount' : money(evaluation.cost)}. Evaluation ${id}.\n`,
  );
  return verdict.outcome in exitCodes ? exitCodes[verdict.outcome as 'passed'] : exitCodes.inconclusive;
}

/** Waits until it has ended. If the user interrupts the program, it is canceled. */
async function wait(
  gateway: PromptGateway,
  started: Evaluation,
  interrupted: AbortSignal | undefined,
  { writeError, isTerminal = false }: EvaluateWorld,
): Promise<Evaluation> {
  const { id } = started;
  const progress = createProgress(writeError, isTerminal);
  let evaluation = started;
  try {
    while (['planning', 'queued', 'running'].includes(evaluation.status)) {
      progress.show(evaluation);
      await pause(pollMs, interrupted);
      // What was interrupted here would otherwise go on, and cost.
      evaluation =
        interrupted?.aborted === true ? await gateway.evaluations.cancel(id) : await gateway.evaluations.get(id);
    }
    return evaluation;
  } finally {
    progress.end();
  }
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    const stop = (): void => {
      clearTimeout(timer);
      resolve();
    };
    if (signal?.aborted === true) stop();
    else signal?.addEventListener('abort', stop, { once: true });
  });
}

function endOf({ canceled_reason: because, refused_by: budget }: Evaluation): string {
  if (because === undefined) return '';
  return budget === undefined ? `: ${because}` : `: ${because}, by the budget ${budget}`;
}

function mistakeText({ case: of, side, detail }: Schemas['EvaluationMistake']): string {
  const place = [of, side].filter((part) => part !== undefined).join(', ');
  return escapeInvisible(place === '' ? detail : `${place}: ${detail}`);
}

/** Labels have a letter. */
function sideOf(text: string | undefined): Schemas['EvaluatedSideInput'] {
  if (text === undefined) return {};
  return /^\d+$/.test(text) ? { version: Number(text) } : { label: text };
}

function isFile(dataset: string): boolean {
  return /\.[a-z]+$/i.test(dataset);
}

/** The name of a file, with what names of data sets cannot have as hyphens. */
function datasetName(file: string): string {
  const { name } = path.parse(file);
  return name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
    .slice(0, 60);
}

function referenceOf(text: string): Schemas['DatasetReference'] {
  const [name = '', version] = text.split('@');
  return { name, ...(version !== undefined && { version: Number(version) }) };
}

/** What is wrong in it, the service says. @throws {FileError} */
async function readChecks(file: string): Promise<Schemas['Check'][]> {
  const text = await readText(file);
  try {
    return JSON.parse(text) as Schemas['Check'][];
  } catch {
    throw new FileError(`The file ${file} cannot be read as JSON.`);
  }
}

async function writeReport(file: string, text: string): Promise<void> {
  await writeFile(file, text).catch(() => {
    throw new FileError(`The file ${file} cannot be written.`);
  });
}
