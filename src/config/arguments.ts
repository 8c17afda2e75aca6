import type { Environment } from './read-settings.ts';
import { allSettings } from './settings.ts';

export type Command = 'start' | 'help' | 'version';

/**
 * Reads the command line. Its only options are `--help` (`-h`) and `--version`; settings are environment variables.
 *
 * @param words the arguments after the program's name
 * @param environment npm does not pass on options without `--`; it sets `npm_config_…` here instead
 * @returns what to do, and one sentence for each mistake. They quote no values, because a value can be a secret
 */
export function readArguments(
  words: readonly string[],
  environment: Environment,
): { command: Command; mistakes: string[] } {
  if (words.includes('--help') || words.includes('-h')) return { command: 'help', mistakes: [] };
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
