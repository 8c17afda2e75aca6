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

/** A prompt with two versions and an alias, in the only file. */
const pulled = async (): Promise<{ slug: string; id: string; file: Record<string, unknown> }> => {
  const created = await createVersions(setup.service, 2);
  await setup.service.call('PUT', `${promptsPath}/${created.id}`, { body: { aliases: [`${created.slug}_1`] } });
  await run('pull');
  for (const name of await readdir(folder)) if (name !== `${created.slug}.json`) await rm(path.join(folder, name));
  return { ...created, file: await read(created.slug) };
};

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
    expect(file).toEqual({ slug, name: file['name'], versions: [{ version: 2, ...saying('v2') }] });
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
      errors: 'many-119.json#/versions/0/selected_provider: is not known\n',
    });
    expect(output).toMatch(/119 created, 0 updated, 0 unchanged, 1 refused\. Nothing was stored\.\n$/);
    expect((await setup.service.call('GET', `${promptsPath}/many-000`)).status).toBe(404);
    await rm(path.join(folder, 'many-119.json'));
    expect((await run('push')).code).toBe(0);
    expect((await setup.service.call('GET', `${promptsPath}/many-118`)).status).toBe(200);
  });

  it('judges every file, also beside those that break the contract or are no prompts, and names each place', async () => {
    const version = { version: 1, ...saying('x') };
    const file = (slug: string, one: object, members = {}): Promise<void> =>
      write(slug, { slug, name: slug, versions: [{ ...version, ...one }], ...members });
    await write('a', '{');
    await write('b', '[]');
    await file('c', { parameters: { temperature: 7 } });
    await file('d', { selected_provider: 'opnai' });
    await file('e', {}, { slug: 'E', nmae: 'x' });
    await file('f', saying('Dear {{user name}}'));
    await file('g', {});
    const { code, output, errors } = await run('push');
    expect({ code, output }).toEqual({
      code: 1,
      output: 'f.json: created\ng.json: created\n2 created, 0 updated, 0 unchanged, 5 refused. Nothing was stored.\n',
    });
    expect(errors.split('\n')).toEqual([
      'a.json: is not JSON',
      'b.json: is not a prompt',
      'c.json#/versions/0/parameters/temperature: must be <= 2',
      'd.json#/versions/0/selected_provider: is not known',
      'e.json#/nmae: is unknown',
      expect.stringMatching(/^e\.json#\/slug: must match /),
      'f.json#/versions/0/messages/0/content: warning: "{{user name}}" is not a placeholder; it is sent unchanged',
      '',
    ]);
  });

  it('takes warnings as mistakes with --strict', async () => {
    await write('warned', { slug: 'warned', name: 'W', versions: [{ version: 1, ...saying('Dear {{user name}}') }] });
    const mistake = '"{{user name}}" is not a placeholder; it is sent unchanged\n';
    const place = 'warned.json#/versions/0/messages/0/content: ';
    expect(await run('push', '--strict')).toMatchObject({ code: 1, errors: `${place}${mistake}` });
    expect((await setup.service.call('GET', `${promptsPath}/warned`)).status).toBe(404);
    expect(await run('push')).toMatchObject({ code: 0, errors: `${place}warning: ${mistake}` });
    expect((await setup.service.call('GET', `${promptsPath}/warned`)).status).toBe(200);
  });

  it('replaces no version of somebody else, except with --overwrite', async () => {
    const { slug, id } = await pulled();
    const edit = async (text: string): Promise<void> =>
      await write(slug, { ...(await read(slug)), versions: [{ version: 2, ...saying(text) }] });
    const textOf = async (): Promise<unknown> => (await setup.service.call('GET', `${promptsPath}/${id}`)).body;
    await edit('mine');
    const key = await setup.service.createKey('prompts:write');
    await setup.service.call('PUT', `${promptsPath}/${id}`, { body: saying('theirs'), key });
    expect(await run('push')).toEqual({
      code: 1,
      errors: `${slug}.json#/versions/0/version: is not the current version: since then, others have made versions up to 3\n`,
      output: '0 created, 0 updated, 0 unchanged, 1 refused. Nothing was stored.\n',
    });
    expect(await textOf()).toMatchObject({ version: 3, ...saying('theirs') });
    expect(await run('push', '--overwrite', '--note', 'Mine is right')).toMatchObject({ code: 0, errors: '' });
    expect(await textOf()).toMatchObject({ version: 4, ...saying('mine') });
    const { body } = await setup.service.call('GET', `${promptsPath}/${id}/versions/4`);
    expect(body).toMatchObject({ note: 'Mine is right' });
  });

  it('writes the number of its version into each file, and goes on from versions of the same key', async () => {
    const { slug } = await createVersions(setup.service, 2);
    const made = { slug, name: 'Made elsewhere', labels: { staging: 2 } };
    const content = { ...made, versions: [{ version: 2, note: 'x', ...saying('new') }] };
    for (const [text, version] of [
      ['new', 3],
      ['newer', 4],
    ] as const) {
      // As in CI: what a push writes into the files is not kept.
      await write(slug, { ...content, versions: [{ ...content.versions[0], ...saying(text) }] });
      expect((await run('push')).output).toBe(`${slug}.json: updated\n0 created, 1 updated, 0 unchanged.\n`);
      expect(await read(slug)).toEqual({ ...made, versions: [{ version, note: 'x', ...saying(text) }] });
    }
    await write('fresh', { slug: 'fresh', name: 'Fresh', versions: [{ version: 7, ...saying('a') }] });
    expect((await run('push', '--dry-run')).output).toContain('fresh.json#/versions: get other numbers');
    expect(await read('fresh')).toMatchObject({ versions: [{ version: 7 }] });
    await run('push');
    expect(await read('fresh')).toMatchObject({ versions: [{ version: 1 }] });
  });

  it('says why the whole request is refused', async () => {
    await write('labelled', {
      slug: 'labelled',
      name: 'L',
      labels: { x: 1 },
      versions: [{ version: 1, ...saying('a') }],
    });
    const key = await setup.service.createKey('prompts:write');
    expect(await run('push', '--labels', '--api-key', key)).toMatchObject({
      code: 1,
      errors: expect.stringMatching(/prompts:release.* \(403\)\n$/),
    });
  });

  it('names a folder that does not exist', async () => {
    await rm(folder, { recursive: true });
    expect(await run('push')).toEqual({ code: 1, errors: `The folder ${folder} cannot be read.\n`, output: '' });
    await mkdir(folder);
  });
});

describe('diff', () => {
  it('finds nothing in what was pulled, in files without aliases, or with another number, note and labels', async () => {
    const { slug, file } = await pulled();
    expect(await run('diff')).toEqual({ code: 0, errors: '', output: '0 of 1 files differ.\n' });
    const { aliases: _, ...others } = file;
    await write(slug, { ...others, labels: { a: 1 }, versions: [{ version: 1, note: 'x', ...saying('v2') }] });
    expect(await run('diff')).toMatchObject({ code: 0 });
    await run('pull', '--all-versions');
    expect(await run('diff')).toMatchObject({ code: 0 });
    expect((await run('push')).output).toMatch(/^0 created, 0 updated, \d+ unchanged\.\n$/);
  });

  it('prints each difference, and changes nothing', async () => {
    const { slug, id, file } = await pulled();
    await setup.service.call('PUT', `${promptsPath}/${id}`, { body: saying('v3\n') });
    const versions = [{ version: 2, ...saying('v2'), parameters: { temperature: 1 } }];
    await write(slug, { ...file, description: 'New', versions });
    await write('zzz', { slug: 'zzz-not-stored', name: 'Z', versions });
    expect(await run('diff', '--api-key', await setup.service.createKey('prompts:read'))).toEqual({
      code: 3,
      errors: '',
      output: [
        `${slug}.json: differs from version 3; the file comes from version 2`,
        '  #/description',
        '  + "New"',
        '  #/versions/0/messages/0/content',
        '  - "v3\\n"',
        '  + "v2"',
        '  #/versions/0/parameters',
        '  + {"temperature":1}',
        'zzz.json: is not stored',
        '2 of 2 files differ.\n',
      ].join('\n'),
    });
    expect(await read(slug)).toMatchObject({ versions });
  });

  it.each([
    ['{', 'is not JSON'],
    ['null', 'is not a prompt'],
    ['{"slug": "x"}', 'has no versions'],
    ['{"slug": "x", "versions": [1]}', 'has no versions'],
  ])('exits with 1 for the file %s', async (text, message) => {
    await write('broken', text);
    expect(await run('diff')).toMatchObject({ code: 1, errors: `broken.json: ${message}\n` });
  });
});

it.each([
  [['types', '--dry-run'], 'types has no option --dry-run.'],
  [['pull', '--dry-run'], 'pull has no option --dry-run.'],
  [['push', '--all-versions'], 'push has no option --all-versions.'],
  [['diff', '--overwrite'], 'diff has no option --overwrite.'],
])('refuses options of another command: %j', async (args, message) => {
  expect(await run(...args)).toMatchObject({ code: 2, errors: expect.stringContaining(message) });
});
