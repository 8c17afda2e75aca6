import { expect, it } from '@jest/globals';
import { promptsPath } from './prompts-harness.ts';
import { exportText, importPrompts, parseLines, type Exported } from './transfer-harness.ts';
import { startTestService } from '../support/service.ts';

const count = 1_000;

/** A prompt with one to three versions, whose text is not the same as another's. */
function promptOf(index: number): unknown {
  const slug = `prompt-${(index * 7919) % count}`;
  const versions = Array.from({ length: 1 + (index % 3) }, (_, at) => ({
    version: at + 1,
    ...(at > 0 && { note: `Änderung ${at}` }),
    messages: [{ role: 'user', content: `${at}: {{name|"${index}"}}\n${'x'.repeat(index)}` }],
    ...(index % 2 === 0 && { variables: { name: { required: true } }, parameters: { temperature: index / count } }),
  }));
  return {
    slug,
    ...(index % 4 === 0 && { aliases: [`pmpt_${index}`, `a_${index}`] }),
    name: `Prompt ${index}`,
    ...(index % 5 === 0 && { test_settings: { index, '$a.b': [null] } }),
    ...(index % 3 > 0 && { labels: { production: 1, staging: versions.length } }),
    versions,
  };
}

it('takes 1,000 prompts into an empty installation, equal byte for byte', async () => {
  const [one, other] = await Promise.all([startTestService(), startTestService()]);
  const send = async (service: typeof one, prompts: readonly unknown[]): Promise<string[]> => {
    const statuses: string[] = [];
    for (let start = 0; start < prompts.length; start += 100) {
      const { status, body } = await importPrompts(service, prompts.slice(start, start + 100));
      expect(status).toBe(200);
      statuses.push(...(body.results as { status: string }[]).map((result) => result.status));
    }
    return statuses;
  };
  const created = await send(
    one,
    Array.from({ length: count }, (_, index) => promptOf(index)),
  );
  expect(new Set(created)).toEqual(new Set(['created']));
  const text = await exportText(one);
  const prompts: Exported[] = parseLines(text);
  expect(prompts).toHaveLength(count);
  expect(new Set(await send(other, prompts))).toEqual(new Set(['created']));
  expect(await exportText(other)).toBe(text);
  expect(new Set(await send(other, prompts))).toEqual(new Set(['unchanged']));
  expect((await other.call('GET', `${promptsPath}/pmpt_996`)).body).toMatchObject({ name: 'Prompt 996' });
  await Promise.all([one.close(), other.close()]);
}, 900_000);
