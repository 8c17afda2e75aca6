/** What Claude Code 2.1.332 sent when its user typed `/mcp__gateway__greeter Ada`, as a proxy recorded it. */
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { startInvokeHarness, type InvokeHarness } from '../invoke/invoke-harness.ts';
import session from './claude-code-session.json' with { type: 'json' };

let harness: InvokeHarness;
beforeAll(async () => {
  harness = await startInvokeHarness();
  const messages = [{ role: 'user', content: 'Hello {{name}}' }];
  await harness.createPrompt({ name: 'Greeter', description: 'Greets somebody.', messages });
});
afterAll(() => harness.close());

it('finds the prompts, and fills one in', async () => {
  const results: Record<string, unknown>[] = [];
  for (const { headers, body } of session) {
    const answer = await harness.service.call('POST', '/mcp', { headers: headers as Record<string, string>, body });
    expect([body.method, answer.status, answer.body.id]).toEqual([body.method, 200, body.id]);
    results.push(answer.body.result);
  }
  const greeter = { name: 'greeter', title: 'Greeter', arguments: [{ name: 'name', required: true }] };
  expect(results).toMatchObject([
    { capabilities: { tools: {}, prompts: {} } },
    { tools: expect.arrayContaining([expect.objectContaining({ name: 'invoke_prompt' })]) },
    { prompts: [greeter] },
    { messages: [{ role: 'user', content: { type: 'text', text: 'Hello Ada' } }] },
  ]);
});
