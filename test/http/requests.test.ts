import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestService, type TestService } from '../support/service.ts';

/** Behaviour that is the same for every operation, tested on some of them. */
let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

const prompts = '/api/v1/prompts';
const minimal = { name: 'x', messages: [{ role: 'user', content: 'hi' }] };

/** Sends bytes unchanged, and returns everything that the service sends back. */
function sendRaw(bytes: string | Buffer): Promise<string> {
  const { hostname, port } = new URL(service.url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    let received = '';
    socket.on('data', (chunk: Buffer) => (received += chunk.toString()));
    socket.on('close', () => {
      resolve(received);
    });
    socket.on('error', reject);
    socket.setTimeout(5_000, () => socket.destroy());
    socket.end(bytes);
  });
}

const slugOf = (body: { type: string }): string => body.type.replace('urn:prompt-gateway:problem:', '');

describe('order of precedence', () => {
  it('answers 404 to an unknown path before it asks for a key', async () => {
    const answer = await service.call('GET', '/api/v1/nothing', { key: null });
    expect(answer.status).toBe(404);
    expect(answer.body).toMatchObject({ status: 404, instance: '/api/v1/nothing' });
    expect(slugOf(answer.body)).toBe('route-not-found');
    expect(answer.headers['content-type']).toBe('application/problem+json');
  });

  it.each(['/API/v1/prompts', '/api/v1/prompts/', '//api/v1/prompts', '/api/v1/prompts/x/'])(
    'is strict about case and slashes: %s',
    async (path) => {
      expect((await service.call('GET', path)).status).toBe(404);
    },
  );

  it('answers 405 with Allow before it asks for a key', async () => {
    const answer = await service.call('DELETE', prompts, { key: null });
    expect(answer.status).toBe(405);
    expect(answer.headers['allow']).toBe('GET, HEAD, POST, OPTIONS');
  });

  it('answers 401 before 403, 403 before 406, and 406 before it reads the body', async () => {
    const reader = await service.createKey('prompts:read');
    const broken = { body: '{', headers: { accept: 'text/html' } };
    expect((await service.call('POST', prompts, { ...broken, key: null })).status).toBe(401);
    expect((await service.call('POST', prompts, { ...broken, key: reader })).status).toBe(403);
    expect((await service.call('POST', prompts, broken)).status).toBe(406);
    expect((await service.call('POST', prompts, { body: '{' })).status).toBe(400);
  });

  it('answers 413 before 415', async () => {
    const big = { body: 'x'.repeat(2 * 1024 * 1024), headers: { 'content-type': 'text/plain' } };
    expect((await service.call('POST', prompts, big)).status).toBe(413);
    const small = { body: 'x', headers: { 'content-type': 'text/plain' } };
    expect((await service.call('POST', prompts, small)).status).toBe(415);
  });
});

describe('authentication', () => {
  it.each([
    ['no key at all', {}, 'Bearer'],
    ['another scheme', { authorization: 'Basic eDp5' }, 'Bearer error="invalid_token"'],
    [
      'an unknown key',
      { authorization: `Bearer pgw_${'0'.repeat(32)}_${'A'.repeat(43)}` },
      'Bearer error="invalid_token"',
    ],
    ['a malformed key', { 'x-api-key': 'hunter2' }, 'Bearer error="invalid_token"'],
    ['operators instead of a key', { 'x-api-key': '{"$ne":null}' }, 'Bearer error="invalid_token"'],
  ])('refuses %s', async (_name, headers, challenge) => {
    const answer = await service.call('GET', prompts, { key: null, headers: headers as Record<string, string> });
    expect(answer.status).toBe(401);
    expect(answer.headers['www-authenticate']).toBe(challenge);
  });

  it('accepts the key as a Bearer token, with the scheme in any case, or in X-API-Key', async () => {
    const key = await service.createKey('prompts:read');
    const spellings = [{ authorization: `bearer ${key}` }, { authorization: `BEARER  ${key}` }, { 'x-api-key': key }];
    for (const headers of spellings)
      expect((await service.call('GET', prompts, { key: null, headers })).status).toBe(200);
  });

  it('names the missing scope', async () => {
    const key = await service.createKey('prompts:invoke');
    const answer = await service.call('GET', prompts, { key });
    expect(answer.status).toBe(403);
    expect(answer.headers['www-authenticate']).toBe('Bearer error="insufficient_scope", scope="prompts:read"');
    expect(answer.body.detail).toContain('prompts:read');
  });
});

describe('bodies', () => {
  const refused: [string, string | Buffer, string, number, string][] = [
    ['cut JSON', '{"name":', 'application/json', 400, 'malformed-body'],
    ['a trailing comma', '{"name":"x",}', 'application/json', 400, 'malformed-body'],
    ['a byte order mark', '\ufeff{}', 'application/json', 400, 'malformed-body'],
    ['half a surrogate pair', '{"name":"\\ud800","messages":[]}', 'application/json', 400, 'malformed-body'],
    ['half a surrogate pair in a name', '{"\\udfff":1}', 'application/json', 400, 'malformed-body'],
    ['nesting without end', '['.repeat(200_000), 'application/json', 400, 'malformed-body'],
    ['deep nesting', `{"name":${'['.repeat(100)}${']'.repeat(100)}}`, 'application/json', 400, 'malformed-body'],
    ['another charset', '{}', 'application/json; charset=latin1', 415, 'unsupported-media-type'],
    ['another media type', '{}', 'application/xml', 415, 'unsupported-media-type'],
    ['an invalid media type', '{}', 'json', 415, 'unsupported-media-type'],
    ['a list instead of an object', '[]', 'application/json', 400, 'invalid-request'],
    ['null', 'null', 'application/json', 400, 'invalid-request'],
  ];
  it.each(refused)('refuses %s', async (_name, body, contentType, status, slug) => {
    const answer = await service.call('POST', prompts, { body, headers: { 'content-type': contentType } });
    expect([answer.status, slugOf(answer.body)]).toEqual([status, slug]);
    expect(answer.body.detail).not.toContain('surrogate pair in');
  });

  it('refuses invalid UTF-8', async () => {
    const body = Buffer.concat([Buffer.from('{"name":"'), Buffer.from([0xff]), Buffer.from('"}')]);
    const head = `POST ${prompts} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${service.adminKey}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n`;
    const answer = await sendRaw(Buffer.concat([Buffer.from(head), body]));
    expect(answer).toContain('HTTP/1.1 400');
    expect(answer).toContain('malformed-body');
  });

  it.each(['application/json', 'application/json;charset=UTF-8', 'Application/JSON; charset="utf-8"'])(
    'takes the media type %s',
    async (contentType) => {
      const answer = await service.call('POST', prompts, { body: minimal, headers: { 'content-type': contentType } });
      expect(answer.status).toBe(201);
    },
  );

  it('requires a body if the operation requires one', async () => {
    const answer = await service.call('POST', prompts, { differs: 'empty-body' });
    expect(answer.status).toBe(400);
    expect(answer.body.errors).toEqual([{ detail: 'is required', pointer: '#' }]);
  });

  it('refuses a content encoding', async () => {
    const answer = await service.call('POST', prompts, {
      body: JSON.stringify(minimal),
      headers: { 'content-encoding': 'gzip' },
      differs: 'content-encoding',
    });
    expect(answer.status).toBe(415);
  });

  it('reports every mistake with its place', async () => {
    const body = {
      nam: 'x',
      messages: [{ role: 'robot', content: 1 }],
      selected_model: 'a b',
      variables: { '1x': {} },
    };
    const { body: problem } = await service.call('POST', prompts, { body });
    expect(problem.errors).toEqual(
      expect.arrayContaining([
        { detail: 'is required', pointer: '#/name' },
        { detail: 'is unknown; did you mean name?', pointer: '#/nam' },
        { detail: 'must be one of "system", "user", "assistant"', pointer: '#/messages/0/role' },
        { detail: 'must be string or array', pointer: '#/messages/0/content' },
        { detail: 'is not an allowed name', pointer: '#/variables/1x' },
      ]),
    );
  });

  it('answers a body of 5 MB before it has arrived completely', async () => {
    const answer = await service.call('POST', prompts, { body: { name: 'x'.repeat(5 * 1024 * 1024) } });
    expect([answer.status, slugOf(answer.body)]).toEqual([413, 'content-too-large']);
  });

  it('stops a chunked body at the limit', async () => {
    const status = await new Promise((resolve, reject) => {
      const outgoing = httpRequest(`${service.url}${prompts}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${service.adminKey}`, 'content-type': 'application/json' },
      });
      outgoing.on('response', (response) => {
        resolve(response.statusCode);
        outgoing.destroy();
      });
      outgoing.on('error', reject);
      for (let sent = 0; sent < 3; sent += 1) outgoing.write('x'.repeat(512 * 1024));
      outgoing.end();
    });
    expect(status).toBe(413);
  });

  it('refuses before the body is sent if the caller waits for 100-continue', async () => {
    const head = `POST ${prompts} HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\ncontent-type: application/json\r\ncontent-length: 10\r\nconnection: close\r\n\r\n`;
    const answer = await sendRaw(head);
    expect(answer).toContain('HTTP/1.1 401');
    expect(answer).not.toContain('100 Continue');
  });

  it('sends 100-continue when it is ready for the body', async () => {
    const status = await new Promise<{ continued: boolean; status: number | undefined }>((resolve, reject) => {
      let continued = false;
      const text = JSON.stringify(minimal);
      const outgoing = httpRequest(`${service.url}${prompts}`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${service.adminKey}`,
          'content-type': 'application/json',
          'content-length': text.length,
          expect: '100-continue',
        },
      });
      outgoing.on('continue', () => {
        continued = true;
        outgoing.end(text);
      });
      outgoing.on('response', (response) => {
        response.resume();
        resolve({ continued, status: response.statusCode });
      });
      outgoing.on('error', reject);
      outgoing.flushHeaders();
    });
    expect(status).toEqual({ continued: true, status: 201 });
  });
});

describe('parameters', () => {
  it.each(['0x10', '1e2', '1.0', 'Infinity', '-0', '+5', '007', '5%20', '', '1e999', '99999999999999999999'])(
    'refuses the integer %j',
    async (value) => {
      const answer = await service.call('GET', `${prompts}?limit=${value}`, { differs: 'integer-spelling' });
      expect(answer.status).toBe(400);
      expect(answer.body.errors[0]).toMatchObject({ parameter: 'limit' });
    },
  );

  it.each(['limit=0', 'limit=1001', 'offset=-1', 'nope=1', 'limit=1&limit=2', 'limit[]=1', 'limit[$gt]=1', 'q='])(
    'refuses ?%s',
    async (query) => {
      expect((await service.call('GET', `${prompts}?${query}`)).status).toBe(400);
    },
  );

  it('refuses a path that is not percent-encoded', async () => {
    const answer = await service.call('GET', `${prompts}/%zz`);
    expect([answer.status, slugOf(answer.body)]).toEqual([400, 'bad-request']);
  });
});

describe('answers', () => {
  it('repeat a well-formed X-Request-Id, and replace any other', async () => {
    const echoed = await service.call('GET', prompts, { headers: { 'x-request-id': 'my.request-1' } });
    expect(echoed.headers['x-request-id']).toBe('my.request-1');
    const made = await service.call('GET', prompts, { headers: { 'x-request-id': 'no spaces please' } });
    expect(made.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('must not be stored, and do not name the server', async () => {
    const { headers } = await service.call('GET', prompts);
    expect(headers['cache-control']).toBe('no-store');
    expect(headers['x-powered-by']).toBeUndefined();
  });

  it('to HEAD are the answers to GET without a body', async () => {
    const get = await service.call('GET', prompts);
    const head = await service.call('HEAD', prompts);
    expect(head.status).toBe(200);
    expect(head.headers['content-length']).toBe(get.headers['content-length']);
    expect(head.text).toBe('');
  });

  it('to OPTIONS are 204 with Allow', async () => {
    const answer = await service.call('OPTIONS', prompts, { key: null });
    expect([answer.status, answer.headers['allow']]).toEqual([204, 'GET, HEAD, POST, OPTIONS']);
  });

  it.each(['text/html', 'application/xml', 'application/json;q=0'])('are refused with Accept: %s', async (accept) => {
    expect((await service.call('GET', prompts, { headers: { accept } })).status).toBe(406);
  });

  it.each(['*/*', 'application/*', 'text/html, application/json;q=0.1', 'application/json; charset=utf-8'])(
    'are given to Accept: %s',
    async (accept) => {
      expect((await service.call('GET', prompts, { headers: { accept } })).status).toBe(200);
    },
  );
});

describe('requests that Node itself refuses', () => {
  it.each([
    ['garbage', 'this is not HTTP\r\n\r\n', 400, 'bad-request'],
    ['an unknown method', 'FROBNICATE / HTTP/1.1\r\nhost: x\r\n\r\n', 400, 'bad-request'],
    ['no Host', 'GET /health/live HTTP/1.1\r\n\r\n', 400, 'bad-request'],
    [
      'two lengths',
      'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nx',
      400,
      'bad-request',
    ],
    [
      'too large header fields',
      `GET / HTTP/1.1\r\nhost: x\r\nx: ${'y'.repeat(40_000)}\r\n\r\n`,
      431,
      'header-fields-too-large',
    ],
    [
      'an expectation',
      'GET / HTTP/1.1\r\nhost: x\r\nexpect: miracles\r\nconnection: close\r\n\r\n',
      417,
      'expectation-failed',
    ],
    ['CONNECT', 'CONNECT example.org:443 HTTP/1.1\r\nhost: x\r\n\r\n', 405, 'method-not-allowed'],
  ])('is a problem document too: %s', async (_name, bytes, status, slug) => {
    const answer = await sendRaw(bytes);
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(answer.toLowerCase()).toContain('content-type: application/problem+json');
    expect(answer).toContain(`urn:prompt-gateway:problem:${slug}`);
  });
});
