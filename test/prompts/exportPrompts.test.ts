import { describe, expect, it } from '@jest/globals';
import { create, promptsPath, saying } from './prompts-harness.ts';
import { everyMember, exportText, importPrompts, parseLines, wholeOf, type Exported } from './transfer-harness.ts';
import { setUp } from '../support/per-operation.ts';
import { startTestService } from '../support/service.ts';

const setup = setUp();

/** A prompt with everything that an export contains, on version 2 of 3 by a label. */
async function createWhole(slug: string): Promise<void> {
  const { id } = await create(setup.service, {
    ...{ slug, name: `Prompt ${slug}`, description: 'A "line"\nof text', aliases: [`b_${slug}`, `a_${slug}`] },
    ...{ test_settings: { $where: ['a.b', null, 0.1] }, strict: true, note: 'The first' },
    messages: [
      { role: 'system', content: 'Be {{tone|kind}}.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'See {{what}}' },
          { type: 'image', url: 'https://x.example/a.png' },
        ],
      },
    ],
    variables: { what: { required: true }, __proto__x: { default: '' }, 'a.b': { description: 'Dots' } },
    ...{ selected_provider: 'echo', selected_model: 'echo-1', parameters: { temperature: 0.25, stop: ['END'] } },
    response_format: { type: 'json', schema: { type: 'object', properties: { z: {}, a: {} } } },
    tools: [{ name: 'find', parameters: { type: 'object' } }],
    ...{ tool_choice: 'auto', fallbacks: [{ provider: 'echo' }], retries: 1 },
  });
  await setup.service.call('PUT', `${promptsPath}/${id}`, { body: { ...saying('v2'), tools: null, note: 'Ünïcode' } });
  await setup.service.call('PUT', `${promptsPath}/${id}`, { body: { variables: {}, strict: false } });
  for (const [label, version] of Object.entries({ staging: 3, production: 2 })) {
    await setup.service.call('PUT', `${promptsPath}/${id}/labels/${label}`, { body: { version } });
  }
}

describe('200', () => {
  it('writes what an import makes equal, byte for byte, in the order of slugs', async () => {
    const slugs = ['b', 'a', 'c-2', 'c', 'c-10'];
    for (const slug of slugs) await createWhole(slug);
    const text = await exportText(setup.service);
    expect(parseLines(text).map(({ slug }) => slug)).toEqual(slugs.toSorted());
    expect(parseLines(text)[0]).toMatchObject({
      aliases: ['b_a', 'a_a'],
      labels: { production: 2, staging: 3 },
      versions: [{ version: 1, note: 'The first' }, { version: 2, note: 'Ünïcode' }, { version: 3 }],
    });
    expect(text).not.toMatch(/"id"|_at"|author/);

    const other = await startTestService();
    const imported = await importPrompts(other, parseLines(text));
    expect(imported.body).toMatchObject({
      dry_run: false,
      results: slugs.map(() => ({ status: 'created', version: 3 })),
    });
    expect(await exportText(other)).toBe(text);
    // A repetition changes nothing.
    const before = await other.call('GET', `${promptsPath}/a`);
    const again = await importPrompts(other, parseLines(text));
    expect(again.body).toMatchObject({ results: slugs.map(() => ({ status: 'unchanged', version: 3 })) });
    expect((await other.call('GET', `${promptsPath}/a`)).headers['etag']).toBe(before.headers['etag']);
    await other.close();
  });

  it('loses no member of a prompt', async () => {
    const { id } = await create(setup.service, everyMember);
    await setup.service.call('PUT', `${promptsPath}/${id}/labels/production`, { body: { version: 1 } });
    const whole = await wholeOf(setup.service, id);
    const { note, ...members } = everyMember;
    expect(whole).toMatchObject({ ...members, labels: { production: 1 }, versions: [{ note }] });
    const other = await startTestService();
    const lines = parseLines(await exportText(setup.service)).filter(({ slug }) => slug === everyMember.slug);
    expect((await importPrompts(other, lines)).status).toBe(200);
    expect(await wholeOf(other, everyMember.slug)).toEqual(whole);
    await other.close();
  });

  it('continues after a slug, and leaves out earlier versions', async () => {
    await createWhole('z-1');
    await createWhole('z-2');
    const [only, ...none] = parseLines(await exportText(setup.service, '?after=z-1&versions=current'));
    expect(none).toEqual([]);
    expect(only).toMatchObject({ slug: 'z-2', versions: [{ version: 3 }] });
    expect(await exportText(setup.service, '?after=zz')).toBe('');
  });

  it('contains only what a limited key may reach, and nothing that is being deleted', async () => {
    const [mine, deleted] = [await create(setup.service), await create(setup.service)];
    const limits = { prompts: [mine.id, deleted.id] };
    const key = await setup.service.call('POST', '/api/v1/api-keys', {
      body: { name: 'Limited', scopes: ['prompts:read'], limits },
    });
    await setup.database.db
      .collection<{ _id: string }>('prompts')
      .updateOne({ _id: deleted.id }, { $set: { deleting: true } });
    const answer = await setup.service.call('GET', `${promptsPath}/export`, {
      key: (key.body as unknown as { key: string }).key,
    });
    expect(parseLines(answer.text).map(({ slug }: Exported) => slug)).toEqual([mine.slug]);
  });
});
