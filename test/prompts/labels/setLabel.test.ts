import { describe, expect, it } from '@jest/globals';
import { problem, setUp } from '../../support/per-operation.ts';
import { create, createVersions, promptsPath, saying, type RawDocument } from '../prompts-harness.ts';
import { historyOf, labelPath, moveThrough, setLabel } from './labels-harness.ts';

const setup = setUp();
const mover = { type: 'key', id: 'administrator', name: 'administrator' };

describe('201', () => {
  it('creates a label, which the prompt then shows', async () => {
    const { id, slug } = await createVersions(setup.service, 2);
    const { status, headers, body } = await setLabel(setup.service, slug, 'production', 1);
    expect(status).toBe(201);
    expect(body).toEqual({
      name: 'production',
      version: 1,
      sequence: 1,
      moved_at: expect.any(String),
      author: mover,
    });
    expect(headers['location']).toBe(labelPath(id, 'production'));
    const found = await setup.service.call('GET', headers['location'] ?? '');
    expect([found.body, found.headers['etag']]).toEqual([body, headers['etag']]);
    await setLabel(setup.service, id, 'a-staging-2', 2);
    const prompt = await setup.service.call('GET', `${promptsPath}/${id}`);
    expect(prompt.body.labels).toEqual({ 'a-staging-2': 2, production: 1 });
    const listed = await setup.service.call('GET', `${promptsPath}?q=${slug}`);
    expect(listed.body.data).toEqual([prompt.body]);
  });

  it.each(['constructor', 'tostring', 'valueof', 'a', 'x'.repeat(32), 'v-1-', 'latest-1'])(
    'accepts the name %s',
    async (name) => {
      const { id } = await create(setup.service);
      expect((await setLabel(setup.service, id, name, 1)).status).toBe(201);
      expect((await setup.service.call('GET', labelPath(id, name))).body).toMatchObject({ name, version: 1 });
      const { body } = await setup.service.call('GET', `${promptsPath}/${id}`);
      expect(Object.entries(body.labels as object)).toEqual([[name, 1]]);
    },
  );

  it('creates with If-None-Match: *', async () => {
    const { id } = await create(setup.service);
    const headers = { 'If-None-Match': '*' };
    expect((await setLabel(setup.service, id, 'production', 1, { headers })).status).toBe(201);
  });

  it('needs only the scope prompts:release, and records the key', async () => {
    const { id } = await create(setup.service);
    const key = await setup.service.createKey('prompts:release');
    const { status, body } = await setLabel(setup.service, id, 'production', 1, { key });
    expect([status, body.author]).toEqual([
      201,
      { type: 'key', id: expect.stringMatching(/^[0-9a-f-]{36}$/), name: 'test' },
    ]);
  });
});

describe('200', () => {
  it('takes back what GET returned, as it was and with another version', async () => {
    const { id } = await createVersions(setup.service, 2);
    const path = labelPath(id, 'production');
    const created = await setLabel(setup.service, id, 'production', 1);
    const headers = { 'If-Match': created.headers['etag'] ?? '' };
    const again = await setup.service.call('PUT', path, { body: created.body, headers });
    expect([again.status, again.body, again.headers['etag']]).toEqual([200, created.body, created.headers['etag']]);
    const moved = await setup.service.call('PUT', path, { body: { ...created.body, version: 2 }, headers });
    expect([moved.status, moved.body.version, moved.body.sequence]).toEqual([200, 2, 2]);
  });

  it('moves a label forwards and back, and keeps every move', async () => {
    const { id } = await createVersions(setup.service, 3);
    const { body } = await moveThrough(setup.service, id, 'production', [1, 3, 2]);
    expect(body).toMatchObject({ version: 2, sequence: 3 });
    expect(await historyOf(setup.service, id, 'production')).toEqual([2, 3, 1]);
  });

  it('moves a label in any state with If-Match: *', async () => {
    const { id } = await createVersions(setup.service, 2);
    await moveThrough(setup.service, id, 'production', [1]);
    const { status, body } = await setLabel(setup.service, id, 'production', 2, { headers: { 'If-Match': '*' } });
    expect([status, body.version]).toEqual([200, 2]);
  });

  it('changes nothing if the label already names the version', async () => {
    const { id } = await create(setup.service);
    const first = await moveThrough(setup.service, id, 'production', [1]);
    const headers = { 'If-Match': first.headers['etag'] ?? '' };
    const again = await setLabel(setup.service, id, 'production', 1, { headers });
    expect([again.status, again.body, again.headers['etag']]).toEqual([200, first.body, first.headers['etag']]);
  });

  it('moves time forward, even if the clock of another process is ahead', async () => {
    const { id } = await createVersions(setup.service, 2);
    await moveThrough(setup.service, id, 'production', [1]);
    const ahead = new Date(Date.now() + 3_600_000);
    await prompts().updateOne({ _id: id }, { $set: { 'labels.0.moved_at': ahead } });
    const { body } = await setLabel(setup.service, id, 'production', 2, { headers: { 'If-Match': '*' } });
    expect(body.moved_at).toBe(new Date(ahead.getTime() + 1).toISOString());
  });

  it('does not disturb those who edit: version, updated_at, place in the list and If-Match stay', async () => {
    const { id, etag, body: created } = await create(setup.service);
    const later = await create(setup.service);
    await moveThrough(setup.service, id, 'production', [1]);
    await moveThrough(setup.service, id, 'staging', [1]);
    const now = await setup.service.call('GET', `${promptsPath}/${id}`);
    expect(now.body).toEqual({ ...created, labels: { production: 1, staging: 1 } });
    const listed = await setup.service.call('GET', `${promptsPath}?limit=2`);
    expect(listed.body.data.map((prompt: { id: string }) => prompt.id)).toEqual([later.id, id]);
    // The prompt shows its labels, so a reader with the old tag gets the new representation.
    const reread = await setup.service.call('GET', `${promptsPath}/${id}`, { headers: { 'If-None-Match': etag } });
    expect([reread.status, reread.body]).toEqual([200, now.body]);
    const edit = { body: { ...created, ...saying('edited') }, headers: { 'If-Match': etag } };
    const edited = await setup.service.call('PUT', `${promptsPath}/${id}`, edit);
    expect([edited.status, edited.body.version, edited.body.labels]).toEqual([200, 2, { production: 1, staging: 1 }]);
    // But an edit that somebody else made still matters.
    const lost = await setup.service.call('PUT', `${promptsPath}/${id}`, edit);
    expect(lost.status).toBe(412);
    expect((await setup.service.call('DELETE', `${promptsPath}/${id}`, { headers: { 'If-Match': etag } })).status).toBe(
      412,
    );
  });

  it('is kept by PUT and restore of the prompt, which ignore labels that are sent', async () => {
    const { id } = await createVersions(setup.service, 2);
    await moveThrough(setup.service, id, 'production', [1]);
    const body = { ...saying('v3'), labels: { production: 2, other: 7 } };
    const put = await setup.service.call('PUT', `${promptsPath}/${id}`, { body });
    expect([put.status, put.body.labels]).toEqual([200, { production: 1 }]);
    const restored = await setup.service.call('POST', `${promptsPath}/${id}/versions/2/restore`);
    expect(restored.body).toMatchObject({ version: 4, labels: { production: 1 } });
    expect((await setup.service.call('GET', labelPath(id, 'production'))).body.version).toBe(1);
  });
});

describe('a version with placeholders that are none', () => {
  const accepted = { accept_warnings: true };
  const put = (id: string, body: object, headers = {}) =>
    setup.service.call('PUT', labelPath(id, 'production'), { body, headers });
  const flawed = 'Dear {{user name}}';
  const warning = {
    code: 'not-a-placeholder',
    detail: '"{{user name}}" is not a placeholder; it is sent unchanged',
    pointer: '#/messages/0/content',
  };

  it.each([
    ['current', [flawed]],
    ['earlier', [flawed, 'Dear {{name}}']],
  ])('gets a label only with accept_warnings: the %s version', async (_, [first = '', ...later]) => {
    const { id } = await create(setup.service, saying(first));
    for (const text of later) await setup.service.call('PUT', `${promptsPath}/${id}`, { body: saying(text) });
    for (const body of [{ version: 1 }, { version: 1, accept_warnings: false }]) {
      const refused = await put(id, body);
      expect([refused.status, refused.body.type]).toEqual([409, problem('warnings-not-accepted')]);
      expect(refused.body.errors).toEqual([
        { detail: `names a version where ${warning.pointer} has text: ${warning.detail}`, pointer: '#/version' },
      ]);
    }
    expect((await setup.service.call('GET', labelPath(id, 'production'))).status).toBe(404);
    const created = await put(id, { version: 1, ...accepted });
    expect([created.status, created.body.warnings]).toEqual([201, [warning]]);
  });

  it('keeps its label without it, also when the answer is sent back', async () => {
    const { id } = await create(setup.service, saying(flawed));
    const { body, headers } = await put(id, { version: 1, ...accepted });
    for (const same of [{ version: 1 }, body]) {
      const again = await put(id, same, { 'If-Match': headers['etag'] });
      expect([again.status, again.body]).toEqual([200, body]);
    }
  });

  it('is refused after the precondition', async () => {
    const { id } = await create(setup.service, saying('v1'));
    await put(id, { version: 1 });
    await setup.service.call('PUT', `${promptsPath}/${id}`, { body: saying(flawed) });
    expect((await put(id, { version: 2 })).status).toBe(428);
    const any = { 'If-Match': '*' };
    expect((await put(id, { version: 2 }, any)).status).toBe(409);
    expect((await put(id, { version: 2, ...accepted }, any)).body).toMatchObject({ version: 2, warnings: [warning] });
    expect((await put(id, { version: 1 }, any)).body).not.toHaveProperty('warnings');
  });

  it('does not matter if only a variable is unused', async () => {
    const { id } = await create(setup.service, { ...saying('v1'), variables: { tone: {} } });
    const { status, body } = await put(id, { version: 1 });
    expect([status, body.warnings]).toEqual([201, [expect.objectContaining({ code: 'unused-variable' })]]);
  });
});

describe('a move that can break callers', () => {
  const any = { headers: { 'If-Match': '*' } };
  const required = { code: 'variable-required', detail: 'is new and required', pointer: '#/variables/name' };
  const removed = {
    code: 'variable-removed',
    detail: 'is gone; a value for it is ignored',
    pointer: '#/variables/name',
  };
  const history = async (id: string): Promise<unknown[]> =>
    (await setup.service.call('GET', `${labelPath(id, 'production')}/history`)).body.data;

  it('has warnings, which are stored with it and need not be accepted', async () => {
    const { id } = await create(setup.service, saying('Hello.'));
    await setup.service.call('PUT', `${promptsPath}/${id}`, { body: saying('Hello {{name}}.') });
    const created = await setLabel(setup.service, id, 'production', 1);
    const moved = await setLabel(setup.service, id, 'production', 2, any);
    const back = await setLabel(setup.service, id, 'production', 1, any);
    expect([moved.status, moved.body.warnings, back.body.warnings]).toEqual([200, [required], [removed]]);
    expect(created.body).not.toHaveProperty('warnings');
    expect(await history(id)).toEqual([
      expect.objectContaining({ version: 1, warnings: [removed] }),
      expect.objectContaining({ version: 2, warnings: [required] }),
      expect.not.objectContaining({ warnings: expect.anything() }),
    ]);
  });

  it('shows them again when it is repeated, and the answer can be sent back', async () => {
    const { id } = await create(setup.service, saying('Hello {{name}}.'));
    await setup.service.call('PUT', `${promptsPath}/${id}`, { body: saying('Hello.') });
    await moveThrough(setup.service, id, 'production', [1]);
    const moved = await setLabel(setup.service, id, 'production', 2, any);
    const again = await setup.service.call('PUT', labelPath(id, 'production'), { body: moved.body, ...any });
    expect([again.status, again.body]).toEqual([200, moved.body]);
    expect(await history(id)).toHaveLength(2);
  });

  it('has the warnings of the version first', async () => {
    const { id } = await create(setup.service, { ...saying('Hello.'), variables: { name: {} } });
    const body = { ...saying('Hello.'), variables: { tone: {} } };
    await setup.service.call('PUT', `${promptsPath}/${id}`, { body });
    await moveThrough(setup.service, id, 'production', [1]);
    const moved = await setLabel(setup.service, id, 'production', 2, any);
    expect(moved.body.warnings.map(({ code }: { code: string }) => code)).toEqual([
      'unused-variable',
      'variable-removed',
    ]);
    expect(await history(id)).toContainEqual(expect.objectContaining({ version: 2, warnings: [removed] }));
  });

  it('compares with the version that the label named, not with the one before in number', async () => {
    const { id } = await create(setup.service, saying('Hello {{name}}.'));
    for (const text of ['Hello.', 'Good day, {{name}}.']) {
      await setup.service.call('PUT', `${promptsPath}/${id}`, { body: saying(text) });
    }
    await moveThrough(setup.service, id, 'production', [1]);
    expect((await setLabel(setup.service, id, 'production', 3, any)).body).not.toHaveProperty('warnings');
  });

  it('names what changed in tools and in the format of the answer', async () => {
    const schema = (...required: string[]): object => ({
      type: 'object',
      properties: { customer: { type: 'string' } },
      required,
    });
    const content = (tool: string[], answer: string[]): Record<string, unknown> => ({
      ...saying('Hello.'),
      tools: [{ name: 'find', parameters: schema(...tool) }],
      response_format: { type: 'json', schema: schema(...answer) },
    });
    const { id } = await create(setup.service, content([], ['customer']));
    await setup.service.call('PUT', `${promptsPath}/${id}`, { body: content(['customer'], []) });
    await moveThrough(setup.service, id, 'production', [1]);
    expect((await setLabel(setup.service, id, 'production', 2, any)).body.warnings).toEqual([
      {
        code: 'tool-narrowed',
        detail: 'of the tool "find": is required now',
        pointer: '#/tools/0/parameters/properties/customer',
      },
      {
        code: 'answer-weakened',
        detail: 'can be absent now',
        pointer: '#/response_format/schema/properties/customer',
      },
    ]);
  });
});

describe('400', () => {
  it.each([
    ['latest', 'must not be latest'],
    ['__proto__', 'must be a lower-case letter'],
    ['Production', 'must be a lower-case letter'],
    ['1st', 'must be a lower-case letter'],
    ['x'.repeat(33), 'must have at most 32 characters'],
    ['a%20b', 'must be a lower-case letter'],
    ['a.b', 'must be a lower-case letter'],
  ])('refuses the name %s', async (name, detail) => {
    const { id } = await create(setup.service);
    const { status, body } = await setLabel(setup.service, id, name, 1);
    expect(status).toBe(400);
    expect(body.errors).toContainEqual({ detail: expect.stringContaining(detail), parameter: 'label' });
  });

  it.each([{}, { version: 0 }, { version: '1' }, { version: null }, { version: 1, note: 'x' }])(
    'refuses the body %j',
    async (body) => {
      const { id } = await create(setup.service);
      const answer = await setup.service.call('PUT', labelPath(id, 'production'), { body });
      expect(answer.status).toBe(400);
    },
  );

  it('refuses another If-None-Match than *', async () => {
    const { id } = await create(setup.service);
    const headers = { 'If-None-Match': '"x"' };
    const { status, body } = await setLabel(setup.service, id, 'production', 1, { headers });
    expect(status).toBe(400);
    expect(body.errors).toContainEqual({ detail: 'must be *', header: 'If-None-Match' });
  });
});

describe('403', () => {
  it('refuses a key that may only edit and invoke', async () => {
    const { id } = await create(setup.service);
    const key = await setup.service.createKey('prompts:read', 'prompts:write', 'prompts:invoke');
    const { status, body } = await setLabel(setup.service, id, 'production', 1, { key });
    expect([status, body.type]).toEqual([403, problem('insufficient-scope')]);
    expect(body.detail).toContain('prompts:release');
  });
});

describe('404', () => {
  it('says that the version does not exist', async () => {
    const { id } = await createVersions(setup.service, 2);
    const { status, body } = await setLabel(setup.service, id, 'production', 3);
    expect([status, body.type]).toEqual([404, problem('version-not-found')]);
  });

  it('says that the prompt does not exist', async () => {
    const { status, body } = await setLabel(setup.service, 'no-such-prompt', 'production', 1);
    expect([status, body.type]).toEqual([404, problem('prompt-not-found')]);
  });
});

describe('409', () => {
  it('refuses the twenty-first label, but moves the others', async () => {
    const { id } = await createVersions(setup.service, 2);
    for (let number = 1; number <= 20; number += 1) {
      expect((await setLabel(setup.service, id, `label-${number}`, 1)).status).toBe(201);
    }
    const { status, body } = await setLabel(setup.service, id, 'label-21', 1);
    expect([status, body.type]).toEqual([409, problem('too-many-labels')]);
    const headers = { 'If-Match': '*' };
    expect((await setLabel(setup.service, id, 'label-20', 2, { headers })).status).toBe(200);
    await setup.service.call('DELETE', labelPath(id, 'label-1'), { headers });
    expect((await setLabel(setup.service, id, 'label-21', 1)).status).toBe(201);
  });
});

describe('412', () => {
  const refused = async (id: string, headers: Record<string, string>): Promise<void> => {
    const { status, body } = await setLabel(setup.service, id, 'production', 2, { headers });
    expect([status, body.type]).toEqual([412, problem('precondition-failed')]);
  };

  it('does not undo a move that the caller has not seen', async () => {
    const { id } = await createVersions(setup.service, 3);
    const seen = await moveThrough(setup.service, id, 'production', [1]);
    await setLabel(setup.service, id, 'production', 3, { headers: { 'If-Match': '*' } });
    await refused(id, { 'If-Match': seen.headers['etag'] ?? '' });
    expect(await historyOf(setup.service, id, 'production')).toEqual([3, 1]);
  });

  it('knows a label from one that was deleted and created again', async () => {
    const { id } = await createVersions(setup.service, 2);
    const seen = await moveThrough(setup.service, id, 'production', [1]);
    const headers = { 'If-Match': seen.headers['etag'] ?? '' };
    await setup.service.call('DELETE', labelPath(id, 'production'), { headers });
    await refused(id, headers);
    await setLabel(setup.service, id, 'production', 1);
    await refused(id, headers);
  });

  it('does not take the ETag of the prompt or of another label', async () => {
    const { id } = await createVersions(setup.service, 2);
    await moveThrough(setup.service, id, 'production', [1]);
    const other = await moveThrough(setup.service, id, 'staging', [1]);
    const prompt = await setup.service.call('GET', `${promptsPath}/${id}`);
    await refused(id, { 'If-Match': prompt.headers['etag'] ?? '' });
    await refused(id, { 'If-Match': other.headers['etag'] ?? '' });
  });

  it('with If-None-Match: * does not move', async () => {
    const { id } = await createVersions(setup.service, 2);
    await moveThrough(setup.service, id, 'production', [1]);
    await refused(id, { 'If-None-Match': '*' });
    await refused(id, { 'If-None-Match': '*', 'If-Match': '*' });
  });
});

describe('428', () => {
  it('does not move a label without If-Match, not even to its version', async () => {
    const { id } = await createVersions(setup.service, 2);
    await moveThrough(setup.service, id, 'production', [1]);
    for (const version of [1, 2]) {
      const { status, body } = await setLabel(setup.service, id, 'production', version);
      expect([status, body.type]).toEqual([428, problem('precondition-required')]);
      expect(body.errors).toEqual([{ detail: 'is required', header: 'If-Match' }]);
    }
    expect(await historyOf(setup.service, id, 'production')).toEqual([1]);
  });
});

describe('500', () => {
  it('hides the cause', async () => {
    const { id } = await create(setup.service);
    await prompts().updateOne({ _id: id }, { $unset: { messages: '' } });
    const { status, body } = await setLabel(setup.service, id, 'production', 1);
    expect([status, body.type]).toEqual([500, problem('internal-error')]);
  });
});

function prompts(): ReturnType<typeof setup.database.db.collection<RawDocument>> {
  return setup.database.db.collection<RawDocument>('prompts');
}

describe('422', () => {
  it('changes no read-only field', async () => {
    const { id } = await createVersions(setup.service, 2);
    const path = labelPath(id, 'production');
    const { headers } = await setLabel(setup.service, id, 'production', 1);
    const body = { version: 2, name: 'other', sequence: 7 };
    const refused = await setup.service.call('PUT', path, {
      body,
      headers: { 'If-Match': headers['etag'] ?? '' },
    });
    expect([refused.status, refused.body.type]).toEqual([422, problem('read-only-field')]);
    expect(refused.body.errors.map(({ pointer }: { pointer: string }) => pointer)).toEqual(['#/name', '#/sequence']);
    const copied = await setup.service.call('PUT', labelPath(id, 'copied'), { body: { version: 1, sequence: 1 } });
    expect(copied.status).toBe(422);
  });
});
