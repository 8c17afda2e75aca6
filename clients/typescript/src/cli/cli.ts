import { parseArgs } from 'node:util';
import {
  AnswerError,
  ConnectionError,
  ProblemError,
  systemCode,
  TimeoutError,
  UnexpectedAnswerError,
} from '../errors.ts';
import { PromptGateway } from '../prompt-gateway.ts';
import { FormatError } from '../transfer/converted.ts';
import { converters, type ForeignFormat } from '../transfer.ts';
import { convertFiles } from './convert-files.ts';
import { pullDataset, pushDataset } from './datasets.ts';
import { diff } from './diff.ts';
import { evaluate, evaluateForGate, type EvaluateOptions, type EvaluateWorld } from './evaluate.ts';
import { listen } from './listen.ts';
import { pull } from './prompt-files.ts';
import { FileError } from './read-text.ts';
import { push } from './push.ts';
import { escapeInvisible } from './quote.ts';
import { NoLabelError, NoServiceError, readPrompts } from './read-prompts.ts';
import { ResultsError } from './results.ts';
import { renderPromptTypes } from './render-prompt-types.ts';

const help = `Usage: prompt-gateway-client types [options] > prompts.d.ts
       prompt-gateway-client pull [options]
       prompt-gateway-client diff [options]
       prompt-gateway-client push [options]
       prompt-gateway-client convert --from <format> <file>...
       prompt-gateway-client datasets push <name> <file>
       prompt-gateway-client datasets pull <name> [<file>]
       prompt-gateway-client evaluate <slug> --dataset <file or name> [options]
       prompt-gateway-client evaluate <slug> --gate <label> [options]
       prompt-gateway-client listen --forward-to <url> [options]

types   Writes TypeScript types of the stored prompts: their variables, and \`object\` of those that answer with JSON.
        With this file in your program, a call with a missing or misspelt variable does not compile. Write it again
        when prompts change.
pull    Writes each stored prompt into a file of its own, <slug>.json, for version control. Equal prompts give equal
        files. A file has the number of the version that it comes from.
diff    Prints what a push of these files would change.
push    Stores the prompts of these files. A file that differs from the stored prompt makes a new version, and then has
        its number. A file is refused if somebody else has made a version since the one that it comes from; versions
        that this API key made do not count. Mistakes and warnings of all files are printed, each with its place as
        <file>#<JSON Pointer>. Nothing is stored if one file is refused. Labels stay where they are: releasing a version
        is a step of its own.
convert Writes such files from those of another tool, and names what does not map. Push stores them. What would give
        models another text, such as a composed prompt, and what the service refuses, is a mistake.
datasets push stores the cases of a file as a data set: JSON Lines (.jsonl), a table (.csv) with a variable in each
        column, or tests of promptfoo (.yaml, .json, .jsonl, and __expected in tables). Checks keep their names. What
        the service does not have is named with its line, and then nothing is stored. The same cases make no version.
datasets pull writes the current cases of a data set as JSON Lines, by default into <name>.jsonl.
evaluate asks a version about each case of a data set, and decides whether it is good enough. A file becomes a data set
        of its name first. It prints how far it is, the cases that did not pass, and the verdict. If you interrupt it,
        the evaluation is canceled. With --gate, cases, checks and rule are those of the gate, and only what it does not
        know yet is asked; passed means that the gate lets the version in.
listen  Sends the events of the service to a receiver on this computer, as they come, and prints each answer. They have
        the same bodies as those of integrations, and signatures with a secret that it prints. Each event is sent once.
        If you interrupt it, it prints how to go on.

Options:
  --url <url>       address of the service; default: PROMPT_GATEWAY_URL
  --api-key <key>   API key with the scope prompts:read, for push prompts:write, for datasets datasets:read and
                    datasets:write, for evaluate prompts:read, prompts:invoke and, for files, those of datasets, for
                    listen events:read; default: PROMPT_GATEWAY_API_KEY.
                    Other users of the computer can see the options of a running program, so prefer the environment.
  --only-known      types: the compiler refuses all other prompts, and ids; by default it accepts them with any
                    variables
  --label <name>    types: also types calls with this label, by the versions that it names now; can be repeated
  --folder <path>   pull, diff, push, convert: where the files are; default: prompts
  --all-versions    pull: also earlier versions, and labels; by default the files have only the current content
  --dry-run         push: stores nothing, and prints what would change
  --strict          push: warnings, such as of text that looks like a placeholder, are mistakes
  --note <text>     push: a note about the new versions
  --overwrite       push: also replaces what others have changed
  --labels          push: also sets labels of the files where there is none of this name; needs prompts:release
  --from <format>   convert: langfuse, helicone, promptlayer (JSON as exported, or as their APIs answer), promptfoo, or
                    markdown (Prompty, Dotprompt, and other texts with front matter). The last two need the package yaml.
  --provider <id>   convert: the provider of models that are named without one
  --dataset <file or name>  evaluate: the cases: a file as for datasets push, or a data set, with @<version> of one of its
                    versions
  --version <number or label>  evaluate: the version that is asked; default: the latest
  --against <number or label>  evaluate: the version that it is compared with
  --gate <label>    evaluate: asks what the gate of this label wants to know
  --checks <file>   evaluate: a JSON list of checks of every answer
  --not-worse-by <margin>  evaluate: passed if it is not worse than the other by this part of the cases; default with
                    --against: 0.05
  --min-pass-rate <rate>  evaluate: passed if it passes this part of cases like these
  --all-pass        evaluate: passed if it passes each case
  --dry-run         evaluate: prints how many calls it would make, and what they can cost
  --junit <file>    evaluate: writes a report for CI systems
  --json <file>     evaluate: writes the evaluation as the service answers it
  --forward-to <url>  listen: the address of the receiver, such as http://localhost:3000/hooks
  --types <types>   listen: only events of these types, separated by commas
  --after <cursor>  listen: goes on after this place of the feed; default: what happens from now on
  --help            this text

listen signs with the secret in PROMPT_GATEWAY_WEBHOOK_SECRET, or with a new one.

Exit codes: 0 done, or passed; 1 prompts or cases cannot be read or stored, or are mistakes, or an evaluation could not run;
2 wrong options; 3 diff found differences, or an evaluation failed; 4 an evaluation decided nothing.
`;

/** Environment variables by name, as in `process.env`. */
type Environment = Readonly<Record<string, string | undefined>>;

/** Output streams, and the number of retries. */
export interface CliWorld {
  readonly write: (text: string) => void;
  readonly writeError: (text: string) => void;
  readonly maxRetries?: number;
  readonly isTerminal?: boolean;
  /** A signal that is aborted when the user interrupts the program, which then goes on. */
  readonly interruption?: () => AbortSignal;
}

/** A mistake in the options. The message describes it. */
class UsageError extends Error {}

/**
 * Runs the command line program.
 *
 * @param args without the names of Node and of the program
 * @returns the exit code. No message contains the API key.
 */
export async function runCli(
  args: readonly string[],
  environment: Environment,
  world: CliWorld = standardStreams,
): Promise<number> {
  const { write, writeError, maxRetries } = world;
  try {
    const { values, positionals } = parse(args);
    if (values.help === true) {
      write(help);
      return 0;
    }
    const [first, ...files] = positionals;
    const command = commands.find(({ name }) => name === first);
    if (command === undefined || (files.length > 0 && command.takesFiles !== true)) {
      throw new UsageError('The commands are types, pull, diff, push, convert, datasets, evaluate and listen.');
    }
    const foreign = Object.keys(values).find((name) => !['url', 'api-key', ...command.options].includes(name));
    if (foreign !== undefined) throw new UsageError(`${command.name} has no option --${foreign}.`);
    const open = (): PromptGateway =>
      openGateway(
        values.url ?? environment['PROMPT_GATEWAY_URL'],
        values['api-key'] ?? environment['PROMPT_GATEWAY_API_KEY'],
        maxRetries,
      );
    return await command.run(open, { ...values, files }, world, environment);
  } catch (error) {
    if (error instanceof UsageError) {
      writeError(`${error.message}\nSee prompt-gateway-client --help.\n`);
      return 2;
    }
    writeError(`${describe(error, args[0])}\n`);
    return 1;
  }
}

const standardStreams: CliWorld = {
  write: (text) => void process.stdout.write(text),
  writeError: (text) => void process.stderr.write(text),
  isTerminal: process.stderr.isTTY,
  interruption() {
    const controller = new AbortController();
    for (const name of ['SIGINT', 'SIGTERM'] as const) {
      process.once(name, () => {
        controller.abort();
      });
    }
    return controller.signal;
  },
};

type Options = ReturnType<typeof parse>['values'];

interface Command {
  readonly name: string;
  /** Those that only some commands have. */
  readonly options: readonly (keyof Options)[];
  /** @returns the exit code */
  readonly run: (
    open: () => PromptGateway,
    options: Options & { readonly files: readonly string[] },
    world: EvaluateWorld,
    environment: Environment,
  ) => Promise<number>;
  readonly takesFiles?: true;
}

const commands: readonly Command[] = [
  {
    name: 'types',
    options: ['only-known', 'label'],
    async run(open, { label: labels, ...options }, { write }) {
      const { prompts, labelled } = await readPrompts(open(), labels);
      write(renderPromptTypes(prompts, options['only-known'] === true, labelled));
      return 0;
    },
  },
  {
    name: 'pull',
    options: ['folder', 'all-versions'],
    async run(open, { folder = 'prompts', 'all-versions': all = false }, { write }) {
      await pull(open(), { folder, all }, write);
      return 0;
    },
  },
  {
    name: 'diff',
    options: ['folder'],
    run: (open, { folder = 'prompts' }, world) => diff(open(), folder, world),
  },
  {
    name: 'push',
    options: ['folder', 'dry-run', 'labels', 'overwrite', 'strict', 'note'],
    async run(open, { folder = 'prompts', note, ...options }, world) {
      const isDone = await push(
        open(),
        {
          folder,
          isDryRun: options['dry-run'] === true,
          setsLabels: options.labels === true,
          overwrites: options.overwrite === true,
          isStrict: options.strict === true,
          note,
        },
        world,
      );
      return isDone ? 0 : 1;
    },
  },
  {
    name: 'convert',
    options: ['folder', 'from', 'provider'],
    takesFiles: true,
    async run(_open, { folder = 'prompts', from = '', provider, files }, world) {
      const convert = Object.hasOwn(converters, from) ? converters[from as ForeignFormat] : undefined;
      if (convert === undefined) throw new UsageError(`--from must be one of ${Object.keys(converters).join(', ')}.`);
      if (files.length === 0) throw new UsageError('No files to convert.');
      return (await convertFiles({ convert, files, folder, provider }, world)) ? 0 : 1;
    },
  },
  {
    name: 'datasets',
    options: [],
    takesFiles: true,
    async run(open, { files: [what, name = '', file, ...more] }, world) {
      const isRight = name !== '' && more.length === 0;
      if (what === 'push' && isRight && file !== undefined) {
        return (await pushDataset(open, name, file, world)) === undefined ? 1 : 0;
      }
      if (what === 'pull' && isRight) {
        await pullDataset(open, name, file ?? `${name}.jsonl`, world);
        return 0;
      }
      throw new UsageError('It is datasets push <name> <file>, or datasets pull <name> [<file>].');
    },
  },
  {
    name: 'evaluate',
    options: [
      ...(['dataset', 'version', 'against', 'checks', 'not-worse-by', 'min-pass-rate', 'all-pass'] as const),
      ...(['dry-run', 'junit', 'json', 'gate'] as const),
    ],
    takesFiles: true,
    async run(
      open,
      { files: [slug, ...more], dataset = '', version, against, checks, junit, json, ...options },
      world,
    ) {
      if (slug === undefined || more.length > 0) {
        throw new UsageError('It is evaluate <slug> --dataset <file or name>, or evaluate <slug> --gate <label>.');
      }
      if (options.gate !== undefined) {
        if ([dataset || undefined, against, checks, ...ruleOptions(options)].some((value) => value !== undefined)) {
          throw new UsageError('With --gate, cases, checks and rule are those of the gate.');
        }
        return await evaluateForGate(open, { slug, version, label: options.gate, junit, json }, world);
      }
      if (dataset === '') throw new UsageError('No cases: use --dataset.');
      const rule = ruleOf(options, against !== undefined);
      const isDryRun = options['dry-run'] === true;
      return await evaluate(open, { slug, version, against, dataset, checks, rule, isDryRun, junit, json }, world);
    },
  },
  {
    name: 'listen',
    options: ['forward-to', 'types', 'after'],
    async run(open, { 'forward-to': forwardTo = '', types, after = 'now' }, world, environment) {
      const target = URL.parse(forwardTo);
      if (target === null || !['http:', 'https:'].includes(target.protocol)) {
        throw new UsageError('--forward-to must be the address of a receiver, such as http://localhost:3000/hooks.');
      }
      const secret = environment['PROMPT_GATEWAY_WEBHOOK_SECRET'];
      await listen(open(), { target, types: types?.split(','), after, secret }, world);
      return 0;
    },
  },
];

/** What a gate says itself. */
function ruleOptions(options: Options): unknown[] {
  return [options['not-worse-by'], options['min-pass-rate'], options['all-pass'], options['dry-run']];
}

/** @throws {UsageError} */
function ruleOf(options: Options, isCompared: boolean): EvaluateOptions['rule'] {
  const { 'not-worse-by': margin = isCompared ? '0.05' : undefined, 'min-pass-rate': rate, 'all-pass': all } = options;
  const rules = [
    ...(margin === undefined ? [] : [{ not_worse_by: numberOf('not-worse-by', margin) }]),
    ...(rate === undefined ? [] : [{ min_pass_rate: numberOf('min-pass-rate', rate) }]),
    ...(all === true ? [{ all_pass: true as const }] : []),
  ];
  const [rule, ...others] = rules;
  if (rule === undefined) throw new UsageError('Nothing decides: use --against, --min-pass-rate or --all-pass.');
  if (others.length > 0) throw new UsageError('--min-pass-rate and --all-pass are for one version, without --against.');
  return rule;
}

function numberOf(name: string, text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value)) throw new UsageError(`--${name} must be a number.`);
  return value;
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        url: { type: 'string' },
        'api-key': { type: 'string' },
        'only-known': { type: 'boolean' },
        label: { type: 'string', multiple: true },
        folder: { type: 'string' },
        'all-versions': { type: 'boolean' },
        'dry-run': { type: 'boolean' },
        labels: { type: 'boolean' },
        overwrite: { type: 'boolean' },
        strict: { type: 'boolean' },
        note: { type: 'string' },
        from: { type: 'string' },
        provider: { type: 'string' },
        dataset: { type: 'string' },
        version: { type: 'string' },
        against: { type: 'string' },
        checks: { type: 'string' },
        'not-worse-by': { type: 'string' },
        'min-pass-rate': { type: 'string' },
        'all-pass': { type: 'boolean' },
        junit: { type: 'string' },
        json: { type: 'string' },
        gate: { type: 'string' },
        'forward-to': { type: 'string' },
        types: { type: 'string' },
        after: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
    });
  } catch (error) {
    // The messages of `parseArgs` contain names of options, but not their values.
    throw new UsageError(error instanceof Error ? error.message : 'Wrong options.');
  }
}

function openGateway(url = '', apiKey = '', maxRetries?: number): PromptGateway {
  if (url === '') throw new UsageError('No address of the service: set PROMPT_GATEWAY_URL, or use --url.');
  if (apiKey === '') throw new UsageError('No API key: set PROMPT_GATEWAY_API_KEY, or use --api-key.');
  try {
    return new PromptGateway({ baseUrl: url, apiKey, maxRetries });
  } catch (error) {
    // The messages contain option names of the client: `baseUrl` is --url.
    throw new UsageError(error instanceof TypeError ? error.message : 'Wrong options.');
  }
}

/**
 * The reason why the prompts cannot be read or stored, in fixed words, because the text of a server could contain
 * anything. Only that of a push says which of them the service refuses.
 */
function describe(error: unknown, command: string | undefined): string {
  const isOwn = [FileError, FormatError, NoLabelError, ResultsError].some((kind) => error instanceof kind);
  if (isOwn && error instanceof Error) return error.message;
  if (error instanceof ConnectionError) {
    const code = systemCode(error.cause);
    return `The service cannot be reached${code === undefined ? '' : ` (${code})`}. Is the address right?`;
  }
  if (error instanceof TimeoutError) return 'The service does not answer in time.';
  if (error instanceof NoServiceError || (error instanceof UnexpectedAnswerError && error.status < 500)) {
    return 'The answer is not a list of prompts. Is the address right?';
  }
  if (error instanceof AnswerError && error.status === 401) return 'The service does not accept the API key (401).';
  if (error instanceof ProblemError && ['push', 'datasets', 'evaluate', 'listen'].includes(command ?? '')) {
    const mistakes = error.problem.errors ?? [];
    const lines = [
      `${error.detail} (${error.status})`,
      ...mistakes.map(({ pointer, detail }) => `${pointer ?? ''} ${detail}`),
    ];
    return lines.map((line) => escapeInvisible(line.trim())).join('\n');
  }
  if (error instanceof AnswerError && error.status === 403) {
    return 'The API key does not have the scope prompts:read (403).';
  }
  if (error instanceof AnswerError) return `The service answers with status ${error.status}.`;
  throw error;
}
