import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { setUp } from '../../support/per-operation.ts';
import { startServiceProcess, type ServiceProcess } from '../../support/service-process.ts';
import { createVersions, promptsPath } from '../prompts-harness.ts';
import { historyOf, labelPath, setLabel } from './labels-harness.ts';

/** A service in this process, and one in a process of its own on the same database. */
const setup = setUp();
let other: ServiceProcess;
beforeAll(async () => {
  other = await startServiceProcess(setup.service.environment);
});
afterAll(() => other.stop());

const connections = 50;
const versions = [2, 3, 4, 5];

it('every invocation that begins after a move was acknowledged runs the new version, in both processes', async () => {
  const { id } = await createVersions(setup.service, versions.length + 1);
  const urls = [setup.service.url, other.url];
  const headers = { authorization: `Bearer ${setup.service.adminKey}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ label: 'production', provider: 'echo' });
  // The label moves from each version to the next, so an older version than the acknowledged one is a stale one.
  let acknowledged = 1;
  let requested = 1;

  const invoke = async (url: string): Promise<void> => {
    const least = acknowledged;
    const answer = await fetch(`${url}${promptsPath}/${id}/invoke`, { method: 'POST', headers, body });
    const { text } = (await answer.json()) as { text: string };
    const served = Number(answer.headers.get('x-served-version'));
    expect([answer.status, text]).toEqual([200, `v${served}`]);
    expect(served).toBeGreaterThanOrEqual(least);
    expect(served).toBeLessThanOrEqual(requested);
  };
  const move = async (version: number): Promise<void> => {
    requested = version;
    const url = `${urls[version % 2] ?? ''}${labelPath(id, 'production')}`;
    const answer = await fetch(url, {
      method: 'PUT',
      headers: { ...headers, 'if-match': '*' },
      body: JSON.stringify({ version }),
    });
    expect(answer.status).toBe(200);
    acknowledged = version;
  };

  expect((await setLabel(setup.service, id, 'production', 1)).status).toBe(201);
  for (const version of versions) {
    let isOver = false;
    const moved = move(version).finally(() => {
      isOver = true;
    });
    const callers = Array.from({ length: connections }, async (_, index) => {
      // Some invocations during the move, and two after it.
      for (let after = 0; after < 2;) {
        if (isOver) after += 1;
        await invoke(urls[index % 2] ?? '');
      }
    });
    await Promise.all([moved, ...callers]);
  }
  expect(await historyOf(setup.service, id, 'production')).toEqual([5, 4, 3, 2, 1]);
});
