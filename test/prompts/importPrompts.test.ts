import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { create, createVersions, promptsPath, saying } from './prompts-harness.ts';
import { exportText, importPrompts, parseLines, type Exported } from './transfer-harness.ts';
import { problem, setUp } from '../support/per-operation.ts';
import type { Answer } from '../support/service.ts';

const setup = setUp();

/** A prompt to import, with a version for each text. */
function sent(texts: readonly string[], members: Partial<Exported> = {}): Exported {
  const slug = `p-${randomUUID().slice(0, 8)}`;
  const versions = texts.map((text, index) => ({ version: index + 1, ...saying(text) })) as Exported['versions'];
  return { slug, name: 'Imported', versions, ...members };
}
const send = (prompts: readonly unknown[], options?: { conflicts?: string; dry_run?: boolean }): Promise<Answer> =>
  importPrompts(setup.service, prompts, options);
const get = (slug: string, rest = ''): Promise<Answer> => setup.service.call('GET', `${promptsPath}/${slug}${rest}`);
const textsOf = async (slug: string): Promise<string[]> => {
  const { body } = await get(slug, '/versions');
  return (body.data as { messages: { content: string }[] }[])
    .map(({ messages }) => messages[0]?.content ?? '')
    .toReversed();
};

describe('200', () => {
  it('stores nothing in a dry run, and says the same as the import', async () => {
    const prompts = [sent(['a', 'b'], { labels: { production: 1 } }), sent(['c'], { aliases: ['dry_1'] })];
    const dry = await send(prompts, { dry_run: true });
    expect(dry.body).toEqual({
      dry_run: true,
      results: prompts.map(({ slug }) => ({ slug, status: 'created' })),
    });
    expect((await get(prompts[0]?.slug ?? '')).status).toBe(404);
    const { body } = await send(prompts);
    expect(body).toMatchObject({
      dry_run: false,
      results: [
        { status: 'created', version: 2 },
        { status: 'created', version: 1 },
      ],
    });
    expect((await get('dry_1')).body).toMatchObject({ id: (body.results as { id: string }[])[1]?.id });
  });

  it('continues an import that was interrupted, whatever conflicts says', async () => {
    const whole = sent(['a', 'b', 'c'], { aliases: ['cont_1'], labels: { production: 2, staging: 3 } });
    const { aliases: _, labels: __, ...part } = whole;
    for (const conflicts of ['refuse', 'skip', 'new-version']) {
      const slug = `${whole.slug}-${conflicts}`;
      const own = { ...whole, slug, aliases: [`cont_${conflicts.replace('-', '')}`] };
      await send([{ ...part, slug, versions: part.versions.slice(0, 2) }]);
      expect((await send([own], { conflicts })).body).toMatchObject({ results: [{ status: 'updated', version: 3 }] });
      expect(parseLines(await exportText(setup.service)).find((one) => one.slug === slug)).toEqual(own);
      expect((await send([own], { conflicts })).body).toMatchObject({ results: [{ status: 'unchanged' }] });
    }
  });

  it('leaves a different prompt as it is, or gives it a new version', async () => {
    const { slug } = await createVersions(setup.service, 2);
    const other = sent(['x', 'y'], {
      slug,
      name: 'Other',
      description: 'New',
      aliases: ['conflict_1'],
      labels: { production: 1 },
    });
    const before = await get(slug);
    expect((await send([other], { conflicts: 'skip' })).body).toMatchObject({
      results: [{ status: 'skipped', version: 2 }],
    });
    expect((await get(slug)).headers['etag']).toBe(before.headers['etag']);
    const dry = await send([other], { conflicts: 'new-version', dry_run: true });
    expect(dry.body).toMatchObject({
      results: [{ status: 'updated', version: 2, notes: [{ pointer: '#/prompts/0/labels/production' }] }],
    });
    const { body } = await send([other], { conflicts: 'new-version' });
    expect(body).toMatchObject({ results: [{ status: 'updated', version: 3 }] });
    expect(await textsOf(slug)).toEqual(['v1', 'v2', 'y']);
    expect((await get(slug)).body).toMatchObject({ name: 'Other', description: 'New', aliases: ['conflict_1'] });
    expect((await get(slug)).body).not.toHaveProperty('labels');
    expect((await send([other], { conflicts: 'new-version' })).body).toMatchObject({
      results: [{ status: 'unchanged' }],
    });
  });

  describe('if-current', () => {
    const one = (slug: string, version: number, text: string): unknown => ({
      ...{ slug, name: 'Imported' },
      versions: [{ version, ...saying(text) }],
    });
    const guarded = async (prompts: readonly unknown[], key?: string): Promise<Answer> =>
      await setup.service.call('POST', `${promptsPath}/import`, {
        body: { prompts, conflicts: 'if-current' },
        ...(key !== undefined && { key }),
      });

    it('makes a version of one that is current, or that only this key has changed since', async () => {
      const key = await setup.service.createKey('prompts:read', 'prompts:write');
      const { slug } = await createVersions(setup.service, 2);
      for (const [version, text, expected] of [
        [2, 'x', 3],
        [2, 'y', 4],
        [3, 'z', 5],
        [9, 'z', 5],
      ] as const) {
        expect((await guarded([one(slug, version, text)], key)).body).toMatchObject({
          results: [{ status: version === 9 ? 'unchanged' : 'updated', version: expected }],
        });
      }
      expect((await guarded([one(sent([]).slug, 7, 'new')], key)).body).toMatchObject({
        results: [{ status: 'created', version: 1 }],
      });
    });

    it.each([
      [
        'is before one of another key',
        'admin',
        2,
        'is not the current version: since then, others have made versions up to 3',
      ],
      ['is before one of this key and one of another', 'key', 1, 'is not the current version'],
      ['is not stored', 'key', 4, 'is not a stored version: the current one is version 3'],
    ])('refuses a version that %s, and judges the others', async (_, by, version, detail) => {
      const key = await setup.service.createKey('prompts:write', 'prompts:release');
      const { slug } = await createVersions(setup.service, 2);
      await setup.service.call('PUT', `${promptsPath}/${slug}`, { body: saying('v3'), key });
      const other = sent(['x'], { labels: { production: 4 } });
      const { status, body } = await guarded([other, one(slug, version, 'mine')], by === 'key' ? key : undefined);
      expect([status, body.type]).toEqual([422, problem('import-refused')]);
      expect(body.errors).toEqual([
        { detail: 'names a version that is not sent', pointer: '#/prompts/0/labels/production' },
        { detail: expect.stringContaining(detail), pointer: '#/prompts/1/versions/0/version' },
      ]);
      expect(await textsOf(slug)).toEqual(['v1', 'v2', 'v3']);
    });

    it('continues several versions that begin with the stored ones, also under a new name, and replaces no others', async () => {
      const whole = sent(['a', 'b', 'c']);
      await send([{ ...whole, versions: whole.versions.slice(0, 2) }]);
      const renamed = { ...whole, name: 'Renamed' };
      expect((await guarded([renamed])).body).toMatchObject({ results: [{ status: 'updated', version: 3 }] });
      expect((await get(whole.slug)).body).toMatchObject({ name: 'Renamed' });
      const { status, body } = await guarded([sent(['a', 'B', 'c', 'd'], { slug: whole.slug })]);
      expect([status, body.errors]).toEqual([
        422,
        [{ detail: 'do not begin with those that are stored', pointer: '#/prompts/0/versions' }],
      ]);
    });
  });

  it('takes over which content may be kept, and does not lift the limit if nothing is sent', async () => {
    const whole = sent(['a']);
    const modeOf = async (): Promise<unknown> => (await get(whole.slug)).body['invocation_content'];
    await send([{ ...whole, invocation_content: 'off' }]);
    expect(await modeOf()).toBe('off');
    expect((await send([whole])).body).toMatchObject({ results: [{ status: 'unchanged' }] });
    const newer = { ...whole, name: 'Newer' };
    expect((await send([newer], { conflicts: 'new-version' })).body).toMatchObject({
      results: [{ status: 'updated' }],
    });
    expect(await modeOf()).toBe('off');
    const other = { ...newer, invocation_content: 'errors' as const };
    expect(await send([other])).toMatchObject({ status: 422, body: { type: problem('import-refused') } });
    expect((await send([other], { conflicts: 'new-version' })).body).toMatchObject({
      results: [{ status: 'updated', version: 1 }],
    });
    expect(await modeOf()).toBe('errors');
  });

  it('never moves a label that exists', async () => {
    const whole = sent(['a', 'b'], { labels: { production: 1 } });
    await send([whole]);
    const { body } = await send([{ ...whole, labels: { production: 2, staging: 2 } }]);
    expect(body).toMatchObject({
      results: [
        {
          status: 'updated',
          notes: [{ detail: expect.stringContaining('not moved'), pointer: '#/prompts/0/labels/production' }],
        },
      ],
    });
    expect((await get(whole.slug)).body).toMatchObject({ labels: { production: 1, staging: 2 } });
  });

  it('numbers versions from 1, and names what gets another number', async () => {
    const [a, b, c] = sent(['a', 'a', 'b']).versions;
    const other = sent([], {
      versions: [a, b, c].map((one, at) => ({ ...one, version: 5 + at })) as never,
      labels: { old: 6, new: 7 },
    });
    const { body } = await send([other]);
    expect(body.results).toMatchObject([
      {
        version: 2,
        notes: [
          { detail: expect.stringContaining('version 5 becomes version 1'), pointer: '#/prompts/0/versions' },
          { pointer: '#/prompts/0/versions/1' },
        ],
      },
    ]);
    expect((await get(other.slug)).body).toMatchObject({ labels: { old: 1, new: 2 } });
  });

  it('takes the current version back as it was exported', async () => {
    const { slug } = await createVersions(setup.service, 3);
    const [current] = parseLines(await exportText(setup.service, '?versions=current')).filter(
      (one) => one.slug === slug,
    );
    expect((await send([current])).body).toMatchObject({ results: [{ status: 'unchanged', version: 3 }] });
  });
});

describe('400', () => {
  it.each([
    ['no prompts', []],
    ['a prompt without versions', [sent([])]],
    ['a misspelt member', [{ ...sent(['a']), label: {} }]],
  ])('refuses %s', async (_, prompts) => {
    expect(await send(prompts)).toMatchObject({ status: 400, body: { type: problem('invalid-request') } });
  });
});

describe('lines of an export', () => {
  const lines = (): string => `${JSON.stringify(sent(['a']))}\n${JSON.stringify(sent(['b'.repeat(20_000)]))}\n`;
  const form = 'JSON Lines are sent as {"prompts": [<line>, <line>]}.';
  const call = (body: string, type: string): Promise<Answer> =>
    setup.service.call('POST', `${promptsPath}/import`, { body, headers: { 'content-type': type } });

  it('are refused with the form that is right', async () => {
    expect(await call(lines(), 'application/jsonl')).toMatchObject({
      status: 415,
      body: {
        type: problem('unsupported-media-type'),
        detail: `Send the body as Content-Type: application/json. ${form}`,
      },
    });
    for (const text of [lines(), lines().replaceAll('b', '')]) {
      const { status, body } = await call(text, 'application/json');
      expect([status, body.type]).toEqual([400, problem('malformed-body')]);
      expect(body.detail).toMatch(/^The body is not valid JSON( \(at position \d+\))?\. JSON Lines are sent as /);
      expect(body.detail).toContain(form);
    }
    const wrapped = `{"prompts": [${lines().trimEnd().replaceAll('\n', ', ')}]}`;
    expect((await call(wrapped, 'application/json')).status).toBe(200);
  });
});

describe('409', () => {
  it('stores nothing more after the answer', async () => {
    const race = async (left: number): Promise<Answer & { long: Exported }> => {
      // Another request takes the slug after the import was checked: not in every race.
      const failing = sent(['a']);
      const long = sent(Array.from({ length: 100 }, (_, version) => String(version)));
      const imported = send([failing, long]);
      const raced = setup.service.call('POST', promptsPath, {
        body: { name: 'a', slug: failing.slug, ...saying('b') },
      });
      const [answer] = await Promise.all([imported, raced]);
      return answer.status === 409 || left === 0 ? { ...answer, long } : race(left - 1);
    };
    const { status, body, long } = await race(20);
    expect([status, body.type]).toEqual([409, problem('edit-conflict')]);
    const stored = await get(long.slug);
    expect(stored.body.version).toBeLessThan(100);
    // A service that goes on has time for some versions.
    for (let other = 0; other < 30; other += 1) await create(setup.service);
    expect(await get(long.slug)).toMatchObject({ body: { version: stored.body.version as number } });
    expect((await send([long])).body).toMatchObject({ results: [{ status: 'updated', version: 100 }] });
  });
});

describe('403', () => {
  it('refuses labels of a key that may not move them, and keys that are limited to some prompts', async () => {
    const one = sent(['a']);
    const writer = await setup.service.createKey('prompts:write');
    const path = `${promptsPath}/import`;
    const call = (key: string, prompts: unknown): Promise<Answer> =>
      setup.service.call('POST', path, { key, body: { prompts } });
    const refused = await call(writer, [{ ...one, labels: { production: 1 } }]);
    expect(refused).toMatchObject({ status: 403, body: { type: problem('insufficient-scope') } });
    expect((await call(writer, [one])).status).toBe(200);
    const { id } = await create(setup.service);
    const limited = await setup.service.call('POST', '/api/v1/api-keys', {
      body: { name: 'Limited', scopes: ['prompts:write'], limits: { prompts: [id] } },
    });
    const { key } = limited.body as unknown as { key: string };
    expect(await call(key, [one])).toMatchObject({ status: 403, body: { type: problem('beyond-limits') } });
  });
});

describe('422', () => {
  it('refuses more versions than a request can have', async () => {
    const prompts = Array.from({ length: 3 }, () => sent(Array.from({ length: 700 }, (_, version) => String(version))));
    const { status, body } = await send(prompts, { dry_run: true });
    expect({ status, ...body }).toMatchObject({
      status: 422,
      type: problem('import-refused'),
      errors: [{ detail: 'must have at most 2000 versions in all', pointer: '#/prompts' }],
    });
  });

  it('refuses everything if one prompt cannot be imported, and names each place', async () => {
    const taken = await create(setup.service, { aliases: ['import_taken'] });
    const labels = Object.fromEntries(Array.from({ length: 20 }, (_, label) => [`label-${label}`, 1]));
    const labelled = sent(['a'], { labels });
    await send([labelled]);
    const good = sent(['a']);
    const bad = [
      sent(['a'], { versions: [{ version: 1, ...saying('a'), selected_provider: 'opnai' }] as never }),
      sent(['a', 'b'], { labels: { production: 3 } }),
      sent(['a'], { aliases: ['free_2', 'import_taken'] }),
      sent(['a'], { slug: taken.slug }),
      sent(['a'], { slug: good.slug }),
      sent(['a', 'b'], { versions: sent(['a', 'b']).versions.toReversed() }),
      sent(['a'], { slug: 'export' }),
      sent(['a'], { test_settings: 'x'.repeat(17 * 1024) }),
      { ...labelled, labels: { more: 1 } },
    ];
    const places = [
      'versions/0/selected_provider',
      'labels/production',
      'aliases/1',
      'slug',
      'slug',
      'versions/1/version',
      'slug',
      'test_settings',
      'labels',
    ];
    const { status, body } = await send([good, ...bad]);
    expect({ status, type: body.type }).toEqual({ status: 422, type: problem('import-refused') });
    expect(body.detail).toBe('9 of 10 prompts cannot be imported. Nothing was stored.');
    const errors = body.errors as { pointer: string }[];
    expect(errors.map(({ pointer }) => pointer)).toEqual(
      places.map((place, index) => `#/prompts/${index + 1}/${place}`),
    );
    expect((await get(good.slug)).status).toBe(404);
    const dry = await send([good, ...bad], { dry_run: true });
    expect(dry.body.results).toMatchObject([
      { status: 'created' },
      ...bad.map(() => ({ status: 'refused', errors: [{}] })),
    ]);
  });
});
