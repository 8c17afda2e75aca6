/** The official client, unchanged, in both revisions. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { startInvokeHarness, type InvokeHarness } from '../invoke/invoke-harness.ts';

let harness: InvokeHarness;
let slug = '';
beforeAll(async () => {
  harness = await startInvokeHarness();
  slug = await harness.createPrompt({ description: 'Greets somebody.' });
});
afterAll(() => harness.close());

async function connect(mode: 'legacy' | { pin: string } | 'auto', key = harness.service.adminKey): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
  const headers = { authorization: `Bearer ${key}` };
  const url = new URL('/mcp', harness.service.url);
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
  return client;
}

describe.each([
  ['legacy', '2025-11-25'],
  [{ pin: '2026-07-28' }, '2026-07-28'],
  ['auto', '2026-07-28'],
] as const)('%j', (mode, revision) => {
  it('finds prompts and tools, and uses them', async () => {
    const client = await connect(mode);
    expect(client.getNegotiatedProtocolVersion()).toBe(revision);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain('invoke_prompt');
    const { prompts } = await client.listPrompts();
    expect(prompts).toMatchObject([{ name: slug, arguments: [{ name: 'name', required: false }] }]);
    const prompt = await client.getPrompt({ name: slug, arguments: { name: 'Ada' } });
    expect(prompt.messages).toEqual([{ role: 'user', content: { type: 'text', text: 'Hello Ada' } }]);
    const result = await client.callTool({ name: 'invoke_prompt', arguments: { prompt: slug } });
    const [content] = result.content;
    expect(content?.type === 'text' && (JSON.parse(content.text) as { text: string }).text).toBe('Hello from model-a.');
    await client.close();
  });

  it('gets errors as such', async () => {
    const client = await connect(mode);
    await expect(client.getPrompt({ name: 'nothing' })).rejects.toMatchObject({ code: -32_602 });
    await expect(client.callTool({ name: 'nothing' })).rejects.toMatchObject({ code: -32_602 });
    expect(await client.callTool({ name: 'get_prompt', arguments: { prompt: 'nothing' } })).toMatchObject({
      isError: true,
    });
    await client.close();
  });

  it('is refused without a key, without looking for OAuth', async () => {
    const wrong = `pgw_${'0'.repeat(32)}_${'A'.repeat(43)}`;
    await expect(connect(mode, wrong)).rejects.toThrow();
  });

  it('sees of the prompts and tools what its key may use', async () => {
    const key = await harness.service.createKey('prompts:invoke');
    const client = await connect(mode, key);
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['render_prompt', 'invoke_prompt']);
    expect(client.getServerCapabilities()).not.toHaveProperty('prompts');
    await client.close();
  });
});
