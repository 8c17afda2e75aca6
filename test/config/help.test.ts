import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { renderEnvExample } from '../../src/codegen/env-example.ts';
import { helpText, loadConfig } from '../../src/config/config.ts';
import { allSettings } from '../../src/config/settings.ts';

describe('helpText', () => {
  const help = helpText();
  const oneLine = help.replace(/\s+/g, ' ');

  it.each(Object.entries(allSettings))('lists %s with its description and default', (name, setting) => {
    const fallback = setting.default ?? setting.otherwise;
    expect(oneLine).toContain(
      ` ${name} ${setting.description}${fallback === undefined ? '' : ` [default: ${fallback}]`} `,
    );
  });

  it('is aligned and fits a terminal', () => {
    for (const line of help.split('\n')) expect(line.length).toBeLessThanOrEqual(112);
    const starts = [...help.matchAll(/^ {2}[A-Z][A-Z0-9_]+ +(?=\S)/gm)].map(([start]) => start.length);
    expect(starts).toHaveLength(Object.keys(allSettings).length);
    expect(new Set(starts).size).toBe(1);
  });
});

describe('.env.example', () => {
  const example = renderEnvExample();
  const home = { HOME: '/home/someone' };

  it('is current', () => {
    expect(readFileSync(new URL('../../.env.example', import.meta.url), 'utf8')).toBe(example);
  });

  it('sets nothing while all lines are comments', () => {
    expect(parseEnv(example)).toEqual({});
  });

  it('lists every setting, and all of its values together are the defaults', () => {
    const uncommented = parseEnv(example.replace(/^#(?=[A-Z])/gm, ''));
    expect(Object.keys(uncommented)).toEqual(expect.arrayContaining(Object.keys(allSettings)));
    expect(Object.keys(uncommented)).toHaveLength(Object.keys(allSettings).length);
    expect(loadConfig({ ...home, ...uncommented })).toEqual(loadConfig(home));
  });

  it('has examples that are valid as they are written', () => {
    const examples = example.replace(/^# Example: (.*)\n#([A-Z0-9_]+=).*$/gm, '$2$1');
    const environment = parseEnv(examples);
    const expected = Object.entries(allSettings).flatMap(([name, { example: text }]) =>
      text === undefined ? [] : [[name, text]],
    );
    expect(environment).toEqual(Object.fromEntries(expected));
    expect(loadConfig({ ...home, S3_BUCKET: 'results', ...environment }).providers.compatible).toHaveLength(1);
  });
});
