import { parseArgs } from 'node:util';
import { AnswerError, ConnectionError, systemCode, TimeoutError, UnexpectedAnswerError } from '../errors.ts';
import { PromptGateway } from '../prompt-gateway.ts';
import { NoServiceError, readPrompts } from './read-prompts.ts';
import { renderPromptTypes } from './render-prompt-types.ts';

const help = `Usage: prompt-gateway-client types [options] > prompts.d.ts

Writes TypeScript types of the stored prompts: their variables, and \`object\` of those that answer with JSON. With this
file in your program, a call with a missing or misspelt variable does not compile. Write it again when prompts change.

Options:
  --url <url>       address of the service; default: PROMPT_GATEWAY_URL
  --api-key <key>   API key with the scope prompts:read; default: PROMPT_GATEWAY_API_KEY. Other users of the computer can
                    see the options of a running program, so prefer the environment.
  --only-known      the compiler refuses all other prompts, and ids; by default it accepts them with any variables
  --help            this text

Exit codes: 0 written, 1 the prompts cannot be read, 2 wrong options.
`;

/** Environment variables by name, as in `process.env`. */
type Environment = Readonly<Record<string, string | undefined>>;

/** Output streams, and the number of retries. */
export interface CliWorld {
  readonly write: (text: string) => void;
  readonly writeError: (text: string) => void;
  readonly maxRetries?: number;
}

/** A mistake in the options. The message describes it. */
class UsageError extends Error {}

/**
 * Runs the command line program.
 *
 * @param args without the names of Node and of the program
 * @returns the exit code. Standard output stays empty unless it is 0. No message contains the API key.
 */
export async function runCli(
  args: readonly string[],
  environment: Environment,
  { write, writeError, maxRetries }: CliWorld = standardStreams,
): Promise<number> {
  try {
    const { values, positionals } = parse(args);
    if (values.help === true) {
      write(help);
      return 0;
    }
    if (positionals.length !== 1 || positionals[0] !== 'types') throw new UsageError('The only command is types.');
    const gateway = openGateway(
      values.url ?? environment['PROMPT_GATEWAY_URL'],
      values['api-key'] ?? environment['PROMPT_GATEWAY_API_KEY'],
      maxRetries,
    );
    write(renderPromptTypes(await readPrompts(gateway), values['only-known'] === true));
    return 0;
  } catch (error) {
    if (error instanceof UsageError) {
      writeError(`${error.message}\nSee prompt-gateway-client --help.\n`);
      return 2;
    }
    writeError(`${describe(error)}\n`);
    return 1;
  }
}

const standardStreams: CliWorld = {
  write: (text) => void process.stdout.write(text),
  writeError: (text) => void process.stderr.write(text),
};

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        url: { type: 'string' },
        'api-key': { type: 'string' },
        'only-known': { type: 'boolean' },
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

/** The reason why the prompts cannot be read, in fixed words, because the text of a server could contain anything. */
function describe(error: unknown): string {
  if (error instanceof ConnectionError) {
    const code = systemCode(error.cause);
    return `The service cannot be reached${code === undefined ? '' : ` (${code})`}. Is the address right?`;
  }
  if (error instanceof TimeoutError) return 'The service does not answer in time.';
  if (error instanceof NoServiceError || (error instanceof UnexpectedAnswerError && error.status < 500)) {
    return 'The answer is not a list of prompts. Is the address right?';
  }
  if (error instanceof AnswerError && error.status === 401) return 'The service does not accept the API key (401).';
  if (error instanceof AnswerError && error.status === 403) {
    return 'The API key does not have the scope prompts:read (403).';
  }
  if (error instanceof AnswerError) return `The service answers with status ${error.status}.`;
  throw error;
}
