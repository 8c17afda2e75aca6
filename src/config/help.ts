import { allSettings, type Setting } from './settings.ts';

const width = 110;

/** The output of `--help`: how to start the service, and every setting with its default, by group. */
export function helpText(): string {
  const column = Math.max(...Object.keys(allSettings).map((name) => name.length)) + 4;
  const groups = settingsByGroup().map(([group, members]) => {
    const lines = members.map(([name, setting]) => entry(name, describe(setting), column));
    return `${group}\n${lines.join('\n')}`;
  });
  return `prompt-gateway: a prompt gateway, an orders API and outgoing webhooks.

Usage: npm start               start with the settings in the environment
       npm start -- --help     print this
       npm start -- --version  print the version

Every setting is an environment variable, or a line of the file .env in the working directory.
Spaces around a value are ignored. An empty value means not set.

${groups.join('\n\n')}
`;
}

/** The settings by group, in the order of their table. */
export function settingsByGroup(): [group: string, members: [name: string, setting: Setting][]][] {
  return [...Map.groupBy(Object.entries(allSettings), ([, setting]) => setting.group)];
}

/** The description, followed by the default or by what happens without the variable. */
export function describe(setting: Setting): string {
  const fallback = setting.default ?? setting.otherwise;
  return fallback === undefined ? setting.description : `${setting.description} [default: ${fallback}]`;
}

/** Breaks a text into lines of at most `limit` characters, or of one longer word. */
export function wrap(text: string, limit: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > limit) {
      lines.push(line);
      line = word;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  return [...lines, line];
}

function entry(name: string, text: string, column: number): string {
  const [first, ...rest] = wrap(text, width - column);
  return [`  ${name}`.padEnd(column) + (first ?? ''), ...rest.map((line) => ' '.repeat(column) + line)].join('\n');
}
