import type { Environment } from './read-settings.ts';
import { allSettings } from './settings.ts';

export type Command = 'start' | 'help' | 'version';

/**
 * Reads the command line, which has two options and nothing else: settings are environment variables.
 *
 * @param words what follows the program's name
 * @param environment npm keeps an option that was given without `--` to itself, and leaves it here as `npm_config_…`
 * @returns what to do, and one sentence for each mistake. They quote no values: one of them may be a secret
 */
export function readArguments(
  words: readonly string[],
  environment: Environment,
): { command: Command; mistakes: string[] } {
  if (words.includes('--help')) return { command: 'help', mistakes: [] };
  const options = words.filter((word) => word.startsWith('-') && word !== '--version');
  const settings = Object.keys(allSettings);
  const keptByNpm = settings.filter(
    (name) => environment[name] === undefined && environment[`npm_config_${name.toLowerCase()}`] !== undefined,
  );
  const mistakes = [
    ...options.map((option) => describeOption(option.replace(/=.*$/s, ''), settings)),
    ...keptByNpm.map((name) => describeOption(`--${name.toLowerCase().replaceAll('_', '-')}`, settings)),
  ];
  if (mistakes.length === 0 && words.some((word) => word !== '--version')) {
    mistakes.push(`The only arguments are --help and --version. ${elsewhere}`);
  }
  return { command: words.includes('--version') ? 'version' : 'start', mistakes };
}

const elsewhere = 'Settings are environment variables. See npm start -- --help.';

function describeOption(option: string, settings: readonly string[]): string {
  const name = option.replace(/^-+/, '').replaceAll('-', '_').toUpperCase();
  return settings.includes(name)
    ? `${option}: is not an option. Set the environment variable ${name} instead, as in ${name}=… npm start.`
    : `${option}: is not an option. ${elsewhere}`;
}
