import type { Answer, CallOptions, TestService } from '../../support/service.ts';

/** The members of `_meta` that every request of the newer revision has. */
export const meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
};

/** Sends a message of the newer revision, with its header fields. */
export function send(
  service: TestService,
  method: string,
  params: Record<string, unknown> = {},
  { headers = {}, ...options }: CallOptions = {},
): Promise<Answer> {
  const { name } = params as { name?: string };
  return service.call('POST', '/mcp', {
    body: { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: meta } },
    headers: {
      'MCP-Protocol-Version': '2026-07-28',
      'Mcp-Method': method,
      ...(name !== undefined && { 'Mcp-Name': name }),
      ...headers,
    },
    ...options,
  });
}

/** Sends a message of the revision with handshakes. */
export function sendOlder(
  service: TestService,
  method: string,
  params?: Record<string, unknown>,
  { headers = {}, ...options }: CallOptions = {},
): Promise<Answer> {
  return service.call('POST', '/mcp', {
    body: { jsonrpc: '2.0', id: 1, method, ...(params && { params }) },
    headers: { 'MCP-Protocol-Version': '2025-11-25', ...headers },
    ...options,
  });
}

/** The text of the result of a tool, as JSON. */
export function jsonOf({ body }: Answer): Record<string, unknown> {
  return JSON.parse(body.result.content[0].text as string) as Record<string, unknown>;
}
