import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { runCli } from '../../clients/typescript/src/cli/cli.ts';
import { create, createVersions, promptsPath, saying } from '../prompts/prompts-harness.ts';
import { everyMember, wholeOf } from '../prompts/transfer-harness.ts';
import { setUp } from '../support/per-operation.ts';

const setup = setUp();
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'prompt-files-'));
});
afterEach(() => rm(folder, { recursive: true }));

/** Runs the program on the service. */
async function run(...args: string[]): Promise<{ code: number; output: string; errors: string }> {
  let [output, errors] = ['', ''];
  const environment = { PROMPT_GATEWAY_URL: setup.service.url, PROMPT_GATEWAY_API_KEY: setup.service.adminKey };
  const code = await runCli([...args, '--folder', folder], environment, {
    write: (text) => (output += text),
    writeError: (text) => (errors += text),
    maxRetries: 0,
  });
  return { code, output, errors };
}

async function read(name: string): Promise<Record<string, unknown>> {
  return JSON.parse(await readFile(path.join(folder, `${name}.json`), 'utf8')) as Record<string, unknown>;
}
const write = (name: string, value: unknown): Promise<void> =>
  writeFile(path.join(folder, `${name}.json`), typeof value === 'string' ? value : JSON.stringify(value));

describe('pull', () => {
  it('writes a file for each prompt, and nothing if nothing has changed', async () => {
    const { slug, id } = await createVersions(setup.service, 2);
    await setup.service.call('PUT', `${promptsPath}/${id}/labels/production`, { body: { version: 1 } });
    expect(await run('pull')).toMatchObject({
      code: 0,
      errors: '',
      output: expect.stringMatching(/^1 prompts, 1 files written\.\n/),
    });
    expect(await readFile(path.join(folder, `${slug}.json`), 'utf8')).toMatch(/^\{\n  "slug": .*\n\}\n$/s);
    const file = await read(slug);
    expect(file).toEqual({ slug, name: file['name'], versions: [{ version: 1, ...saying('v2') }] });
    expect((await run('pull')).output).toMatch(/^1 prompts, 0 files written/);

    expect((await run('pull', '--all-versions')).code).toBe(0);
    expect(await read(slug)).toMatchObject({ labels: { production: 1 }, versions: [{ version: 1 }, { version: 2 }] });

    await setup.service.call('DELETE', `${promptsPath}/${id}`);
    expect((await run('pull')).output).toBe(
      `0 prompts, 0 files written.\n${slug}.json: there is no such prompt any more.\n`,
    );
  });
});

describe('push', () => {
  it('loses no member of a prompt that was pulled with all versions', async () => {
    await create(setup.service, everyMember);
    const whole = await wholeOf(setup.service, everyMember.slug);
    await run('pull', '--all-versions');
    await setup.service.call('DELETE', `${promptsPath}/${everyMember.slug}`);
    expect((await run('push')).code).toBe(0);
    expect(await wholeOf(setup.service, everyMember.slug)).toEqual(whole);
    await setup.service.call('DELETE', `${promptsPath}/${everyMember.slug}`);
  });

  it('stores what differs, after a dry run that stores nothing, and moves no label', async () => {
    const { slug, id } = await create(setup.service, saying('old'));
    await setup.service.call('PUT', `${promptsPath}/${id}/labels/production`, { body: { version: 1 } });
    await run('pull');
    expect(await run('push')).toEqual({ code: 0, errors: '', output: '0 created, 0 updated, 1 unchanged.\n' });
    await write(slug, {
      ...(await read(slug)),
      labels: { production: 1 },
      versions: [{ version: 1, ...saying('new') }],
    });
    await write('added', { slug: 'added', name: 'Added', versions: [{ version: 1, ...saying('a') }] });
    const dry = await run('push', '--dry-run');
    expect(dry).toEqual({
      code: 0,
      errors: '',
      output: `added.json: created\n${slug}.json: updated\n1 created, 1 updated, 0 unchanged. Nothing was stored.\n`,
    });
    const get = async (): Promise<unknown> => (await setup.service.call('GET', `${promptsPath}/${slug}`)).body;
    expect(await get()).toMatchObject({ version: 1 });
    expect((await run('push')).output).toContain('1 created, 1 updated, 0 unchanged.\n');
    expect(await get()).toMatchObject({ version: 2, ...saying('new'), labels: { production: 1 } });
    expect((await run('push')).output).toBe('0 created, 0 updated, 2 unchanged.\n');
  });

  it('stores nothing if one file is refused, and names the place', async () => {
    const names = Array.from({ length: 120 }, (_, index) => `many-${String(index).padStart(3, '0')}`);
    for (const slug of names) await write(slug, { slug, name: slug, versions: [{ version: 1, ...saying('x') }] });
    const selected_provider = 'opnai';
    await write('many-119', {
      slug: 'many-119',
      name: 'x',
      versions: [{ version: 1, ...saying('x'), selected_provider }],
    });
    const { code, errors, output } = await run('push');
    expect({ code, errors }).toEqual({
      code: 1,
      errors: 'many-119.json: refused\n  versions/0/selected_provider: is not known\n',
    });
    expect(output).toMatch(/119 created, 0 updated, 0 unchanged, 1 refused\. Nothing was stored\.\n$/);
    expect((await setup.service.call('GET', `${promptsPath}/many-000`)).status).toBe(404);
    await rm(path.join(folder, 'many-119.json'));
    expect((await run('push')).code).toBe(0);
    expect((await setup.service.call('GET', `${promptsPath}/many-118`)).status).toBe(200);
  });

  it('names a file that is no JSON, and a folder that does not exist', async () => {
    await write('broken', '{');
    expect(await run('push')).toEqual({ code: 1, errors: 'broken.json is not JSON.\n', output: '' });
    expect(await readdir(folder)).toEqual(['broken.json']);
    await rm(folder, { recursive: true });
    expect(await run('push')).toEqual({ code: 1, errors: `The folder ${folder} cannot be read.\n`, output: '' });
    await mkdir(folder);
  });
});

it.each([
  [['types', '--dry-run'], 'types has no option --dry-run.'],
  [['pull', '--dry-run'], 'pull has no option --dry-run.'],
  [['push', '--all-versions'], 'push has no option --all-versions.'],
])('refuses options of another command: %j', async (args, message) => {
  expect(await run(...args)).toMatchObject({ code: 2, errors: expect.stringContaining(message) });
});
