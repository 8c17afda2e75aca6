import { describe, expect, it } from '@jest/globals';
import { problem, startAnother } from '../../../support/per-operation.ts';
import { until } from '../../../support/until.ts';
import { createMovableClock } from '../../../support/clock.ts';
import { labelPath } from '../../labels/labels-harness.ts';
import { saying } from '../../prompts-harness.ts';
import { createDataset, setUpEvaluations, startEvaluation, ended } from '../runs/evaluations-harness.ts';
import {
  addGate,
  answering,
  ask,
  createLevels,
  createVersionsOf,
  evaluate,
  evaluated,
  move,
  name,
  setGate,
} from './gates-harness.ts';

const clock = createMovableClock();
const harness = setUpEvaluations({ clock });
const same = [answering(100, ' too'), answering(100, ' also'), answering(60)];

/** A prompt whose label names version 1, with a gate. Versions 2 and 3 are as good, version 4 is worse. */
async function gated(dataset: string, members: object = {}): Promise<{ prompt: string; gate: object }> {
  const { service } = harness;
  await createLevels(service, dataset);
  const prompt = await createVersionsOf(service, answering(100), ...same);
  await name(service, prompt, 1);
  const gate = { dataset: { name: dataset, version: 1 }, rule: { not_worse_by: 0.05 }, ...members };
  await addGate(service, prompt, gate);
  return { prompt, gate };
}

const refusal = async (prompt: string, version: number): Promise<string> => {
  const { status, body } = await move(harness.service, prompt, version);
  expect([status, body.type]).toEqual([409, problem('release-not-shown')]);
  expect(body.errors).toContainEqual({ detail: expect.any(String), pointer: '#/version' });
  return body.detail as string;
};

describe('a gated label', () => {
  it('moves back to the version that it named immediately before, also by restoring it, and to no earlier one', async () => {
    const { service } = harness;
    const { prompt } = await gated('back');
    for (const version of [2, 3]) {
      await evaluated(service, prompt, { version });
      expect((await move(service, prompt, version)).status).toBe(200);
    }
    await refusal(prompt, 1);
    const restored = await service.call('POST', `/api/v1/prompts/${prompt}/versions/2/restore`);
    const back = await move(service, prompt, restored.body.version as number);
    expect([back.status, back.body]).toEqual([200, expect.not.objectContaining({ gate: expect.anything() })]);
    expect((await move(service, prompt, 3)).status).toBe(200);
    expect((await ask(service, prompt, 2)).releasable).toBe(true);
  });

  it('is not opened by deleting it and creating it', async () => {
    const { service } = harness;
    const { prompt } = await gated('recreated');
    await service.call('DELETE', labelPath(prompt, 'production'), { headers: { 'If-Match': '*' } });
    for (const version of [4, 2]) {
      const { status, body } = await move(service, prompt, version, { headers: {} });
      expect([status, body.type]).toEqual([409, problem('release-not-shown')]);
    }
    // It is compared with what the label named last, which is let in freely.
    const { baseline } = await evaluated(service, prompt, { version: 2 });
    expect(baseline.version).toBe(1);
    expect((await move(service, prompt, 1, { headers: {} })).status).toBe(201);
    expect((await move(service, prompt, 2)).status).toBe(200);
  });

  it('keeps the evaluations that let a version in, because the history names them', async () => {
    const { service, database } = harness;
    const { prompt } = await gated('shown');
    const { id } = await evaluated(service, prompt, { version: 2 });
    const { id: other } = await evaluated(service, prompt, { version: 3 });
    expect((await move(service, prompt, 2)).status).toBe(200);
    const documents = database.db.collection<{ _id: string; expires_at?: Date }>('evaluations');
    const expiry = async (evaluation: string) => (await documents.findOne({ _id: evaluation }))?.expires_at;
    expect([await expiry(id as string), await expiry(other as string)]).toEqual([undefined, expect.any(Date)]);
    await move(service, prompt, 1);
    const { body } = await service.call('GET', `${labelPath(prompt, 'production')}/history`);
    expect(body.data[1].gate.evaluations).toEqual([id]);
    expect(await expiry(id as string)).toBeUndefined();
    await service.call('DELETE', `/api/v1/prompts/${prompt}`);
    expect((await service.call('GET', `/api/v1/evaluations/${id}`)).status).toBe(404);
  });

  it('is not opened by an evaluation that somebody asked for otherwise, nor by one of another gate', async () => {
    const { service } = harness;
    const { prompt, gate } = await gated('others');
    const body = { candidate: { version: 4 }, dataset: { name: 'others' }, rule: { min_pass_rate: 0.01 } };
    await ended(service, await startEvaluation(service, prompt, body));
    await name(service, prompt, 1, 'staging');
    await addGate(service, prompt, gate, 'staging');
    const { body: started } = await evaluate(service, prompt, { version: 2 }, { label: 'staging' });
    await ended(service, started.id as string);
    expect((await move(service, prompt, 2, { label: 'staging' })).status).toBe(200);
    expect(await refusal(prompt, 2)).toContain('was not evaluated');
    expect(await refusal(prompt, 4)).toContain('was not evaluated');
  });

  it('is not opened by a version of another prompt with the same content', async () => {
    const { service } = harness;
    const { prompt } = await gated('twins');
    const { prompt: twin } = await gated('twins-too');
    await evaluated(service, twin, { version: 2 });
    expect(await refusal(prompt, 2)).toContain('was not evaluated');
  });

  it('is not set by an import, which names it and stores nothing', async () => {
    const { service } = harness;
    const { prompt } = await gated('imported');
    await service.call('DELETE', labelPath(prompt, 'production'), { headers: { 'If-Match': '*' } });
    const { text } = await service.call('GET', '/api/v1/prompts/export');
    const lines = text.split('\n').filter((line) => line !== '');
    const { body: stored } = await service.call('GET', `/api/v1/prompts/${prompt}`);
    const exported = lines.map((line) => JSON.parse(line) as { slug: string }).find(({ slug }) => slug === stored.slug);
    const importing = (version: number) =>
      service.call('POST', '/api/v1/prompts/import', {
        body: { prompts: [{ ...exported, labels: { production: version } }] },
      });
    const { status, body } = await importing(4);
    expect([status, body.type, body.errors]).toEqual([
      422,
      problem('import-refused'),
      [{ detail: 'has a gate, which does not let version 4 in', pointer: '#/prompts/0/labels/production' }],
    ]);
    expect((await importing(1)).body).toMatchObject({ results: [{ status: 'updated' }] });
    expect((await service.call('GET', labelPath(prompt, 'production'))).body.version).toBe(1);
  });

  it('keeps its names: whoever may not override neither deletes the prompt, nor takes its slug or alias', async () => {
    const { service } = harness;
    const { prompt } = await gated('named');
    const rename = (body: object, key?: string) =>
      service.call('PUT', `/api/v1/prompts/${prompt}`, { body, ...(key !== undefined && { key }) });
    const slug = `kept-${prompt.slice(0, 8)}`;
    expect((await rename({ slug, aliases: ['kept_alias'] })).status).toBe(200);
    const key = await service.createKey('prompts:write', 'prompts:release');
    const refused = [
      await rename({ slug: `other-${prompt.slice(0, 8)}` }, key),
      await rename({ aliases: ['other_alias'] }, key),
      await service.call('DELETE', `/api/v1/prompts/${prompt}`, { key }),
    ];
    for (const { status, body } of refused) expect([status, body.type]).toEqual([403, problem('insufficient-scope')]);
    expect((await rename({ aliases: ['kept_alias', 'further_alias'], name: 'Renamed' }, key)).status).toBe(200);
    const owner = await service.createKey('prompts:write', 'prompts:override');
    expect((await service.call('DELETE', `/api/v1/prompts/${prompt}`, { key: owner })).status).toBe(200);
  });

  it('can refuse what breaks callers', async () => {
    const { service } = harness;
    const { prompt, gate } = await gated('breaking', { breaking: 'refuse' });
    await service.call('PUT', `/api/v1/prompts/${prompt}`, {
      body: { ...answering(100, ' {{more|}}'), variables: { upto60: { required: true } } },
    });
    const { warnings, reasons } = await ask(service, prompt, 5);
    expect(warnings).toEqual([
      { code: 'variable-required', detail: expect.any(String), pointer: '#/variables/upto60' },
    ]);
    expect(reasons).toContain('It can break callers: variable-required at #/variables/upto60.');
    await evaluated(service, prompt, { version: 5 });
    expect(await refusal(prompt, 5)).toContain('It can break callers');
    await setGate(service, prompt, { ...gate, breaking: 'warn' });
    expect((await move(service, prompt, 5)).status).toBe(200);
  });

  it('is moved by one of two requests at the same time, and never past a gate that is set in the meantime', async () => {
    const { service } = harness;
    await createLevels(service, 'races');
    const gate = { dataset: { name: 'races', version: 1 }, rule: { not_worse_by: 0.05 } };
    for (let count = 0; count < 5; count += 1) {
      const prompt = await createVersionsOf(service, answering(100), answering(60));
      await name(service, prompt, 1);
      const [moved, set] = await Promise.all([
        move(service, prompt, 2),
        setGate(service, prompt, gate, { headers: {} }),
      ]);
      expect(set.status).toBe(201);
      const { body } = await service.call('GET', labelPath(prompt, 'production'));
      expect([200, 409]).toContain(moved.status);
      expect(body.version).toBe(moved.status === 200 ? 2 : 1);
      const afterwards = Date.parse(body.moved_at as string) > Date.parse(set.body.updated_at as string);
      expect(moved.status === 200 && afterwards).toBe(false);
    }
  });
});

describe('an evaluation is stale', () => {
  it.each([
    ['another margin', { rule: { not_worse_by: 0.06 } }],
    ['other checks', { checks: [{ type: 'not-contains', value: 'worse' }] }],
  ])('when the gate has %s', async (_what, members) => {
    const { service } = harness;
    const { prompt, gate } = await gated('remeasured');
    const { id } = await evaluated(service, prompt, { version: 2 });
    await setGate(service, prompt, { ...gate, ...members });
    expect(await refusal(prompt, 2)).toContain(
      `Its evaluation ${id} against version 1, which the label names is stale. The gate has changed since.`,
    );
    expect(await ask(service, prompt, 2)).toMatchObject({
      comparisons: [
        { status: 'stale', evaluable: true, evaluations: [{ counts: false, stale: ['The gate has changed since.'] }] },
      ],
    });
    // What does not decide, and the same gate again, change nothing.
    await setGate(service, prompt, { ...gate, max_age_days: 31 });
    expect((await move(service, prompt, 2)).status).toBe(200);
  });

  it('when the gate names another version of the data set', async () => {
    const { service } = harness;
    const { prompt, gate } = await gated('renewed');
    await evaluated(service, prompt, { version: 2 });
    await createLevels(service, 'renewed', 120);
    expect((await ask(service, prompt, 2)).releasable).toBe(true);
    await setGate(service, prompt, { ...gate, dataset: { name: 'renewed', version: 2 } });
    expect(await refusal(prompt, 2)).toContain('The gate has changed since.');
  });

  it('when the label has moved, also while it ran', async () => {
    const { service } = harness;
    const { prompt } = await gated('moved');
    const { body } = await evaluate(service, prompt, { version: 3 });
    const { status } = await move(service, prompt, 2, { override: 'meanwhile' });
    expect(status).toBe(200);
    await ended(service, body.id as string);
    expect(await refusal(prompt, 3)).toContain('The label names another version since.');
    // Against what the label names again, it counts.
    await move(service, prompt, 1);
    expect((await move(service, prompt, 3)).status).toBe(200);
  });

  it('when another model would be called', async () => {
    const { service, mock } = harness;
    const prompt = await createVersionsOf(service, { ...saying('Hi'), selected_provider: 'mock' });
    const dataset = { name: await createDataset(service, 'models', ['{"id":"one"}']), version: 1 };
    await addGate(service, prompt, {
      dataset,
      checks: [{ type: 'contains', value: 'Hello' }],
      rule: { all_pass: true },
    });
    await evaluated(service, prompt, { version: 1 });
    expect((await ask(service, prompt, 1)).releasable).toBe(true);
    const provider = { id: 'mock', base_url: mock.url, api_key: 'sk-not-secret-here', models: ['model-b', 'model-a'] };
    const other = await startAnother(service, { OPENAI_COMPATIBLE_PROVIDERS: JSON.stringify([provider]) });
    try {
      const { status, body } = await move(other, prompt, 1, { headers: {} });
      expect([status, body.type]).toEqual([409, problem('release-not-shown')]);
      expect(body.detail).toContain('Another model would be called now.');
    } finally {
      await other.close();
    }
    expect((await move(service, prompt, 1, { headers: {} })).status).toBe(201);
  });

  it('when it is too old', async () => {
    const { service } = harness;
    const { prompt } = await gated('aged', { max_age_days: 2 });
    await evaluated(service, prompt, { version: 2 });
    clock.advance(2 * 24 * 3_600_000 + 1);
    expect(await refusal(prompt, 2)).toContain('It is older than 2 days.');
    expect((await evaluate(service, prompt, { version: 2 })).status).toBe(202);
  });
});

describe('override', () => {
  it('takes the responsibility, in the history and in the audit log', async () => {
    const { service } = harness;
    const { prompt } = await gated('overridden');
    const releaser = await service.createKey('prompts:release');
    const refused = await move(service, prompt, 4, { override: 'because', key: releaser });
    expect([refused.status, refused.body.type]).toEqual([403, problem('insufficient-scope')]);
    const key = await service.createKey('prompts:release', 'prompts:override');
    const { status, body } = await move(service, prompt, 4, { override: 'Hotfix', key });
    expect([status, body.gate]).toEqual([200, { override: 'Hotfix' }]);
    const { body: log } = await service.call('GET', `/api/v1/audit-log?resource_id=${prompt}&resource_type=prompt`);
    expect(log.data[0]).toMatchObject({ operation: 'setLabel', after: { overrides: { production: 'Hotfix' } } });
    // What is sent back as it was received overrides nothing.
    const back = await service.call('PUT', labelPath(prompt, 'production'), {
      body: { ...body, version: 3 },
      headers: { 'If-Match': '*' },
    });
    expect([back.status, back.body.type]).toEqual([409, problem('release-not-shown')]);
    await evaluated(service, prompt, { version: 3 });
    const moved = await move(service, prompt, 3, { override: 'not needed' });
    expect(moved.body.gate).toEqual({ evaluations: [expect.any(String)] });
    const { body: history } = await service.call('GET', `${labelPath(prompt, 'production')}/history`);
    expect(history.data[1]).toMatchObject({ version: 4, gate: { override: 'Hotfix' } });
  });
});

describe('the start of a canary', () => {
  it('asks the gate, and with an override the label says so when it is promoted', async () => {
    const { prompt } = await gated('rolled-out');
    const start = (body: object = {}, key?: string) =>
      harness.service.call('PUT', `${labelPath(prompt, 'production')}/canary`, {
        body: { version: 4, share: 0.1, hours: 1, ...body },
        headers: { 'If-Match': '*' },
        ...(key !== undefined && { key }),
      });
    const refused = await start();
    expect([refused.status, refused.body.type]).toEqual([409, problem('release-not-shown')]);
    const override = { override: 'Hotfix' };
    const releaser = await harness.service.createKey('prompts:release');
    expect((await start(override, releaser)).status).toBe(403);
    const started = await start(override);
    expect([started.status, started.body.gate]).toEqual([201, override]);
    // A change, and the end, do not ask again.
    expect((await start({ share: 0.2 })).status).toBe(200);
    const promote = `${labelPath(prompt, 'production')}/canary/promote`;
    expect((await harness.service.call('POST', promote, { headers: { 'If-Match': '*' } })).status).toBe(200);
    const label = await harness.service.call('GET', labelPath(prompt, 'production'));
    expect([label.body.version, label.body.gate]).toEqual([4, override]);
  });
});

describe('a canary that began before its label had a gate', () => {
  /** @returns the prompt, with a version in a canary that the gate does not let in */
  const begun = async (dataset: string): Promise<string> => {
    const { service } = harness;
    await createLevels(service, dataset);
    const prompt = await createVersionsOf(service, answering(100), ...same);
    await name(service, prompt, 1);
    const started = await service.call('PUT', `${labelPath(prompt, 'production')}/canary`, {
      body: { version: 4, share: 0.5, hours: 1, promote: { min_requests: 1 } },
      headers: { 'If-Match': '*' },
    });
    expect(started.status).toBe(201);
    await addGate(service, prompt, { dataset: { name: dataset, version: 1 }, rule: { not_worse_by: 0.05 } });
    return prompt;
  };

  it('is not promoted past it by a request', async () => {
    const prompt = await begun('requested');
    const promote = `${labelPath(prompt, 'production')}/canary/promote`;
    const { status, body } = await harness.service.call('POST', promote, { headers: { 'If-Match': '*' } });
    expect([status, body.type]).toEqual([409, problem('release-not-shown')]);
    expect((await harness.service.call('GET', labelPath(prompt, 'production'))).body.version).toBe(1);
  });

  it('is not promoted past it at the end of its hours', async () => {
    const { service } = harness;
    const prompt = await begun('elapsed');
    const canary = async () => (await service.call('GET', `${labelPath(prompt, 'production')}/canary`)).body;
    const variables = { upto60: 'a', upto97: 'a', upto100: 'a' };
    await until(async () => {
      const body = { label: 'production', variables };
      await service.call('POST', `/api/v1/prompts/${prompt}/invoke`, { body });
      return (await canary()).canary.requests >= 1;
    });
    expect((await canary()).at_end).toBe('promoted');
    clock.advance(3_600_001);
    await until(async () => (await canary()).ended?.reason === 'time');
    expect((await service.call('GET', labelPath(prompt, 'production'))).body.version).toBe(1);
  });
});

describe('a canary whose gate changes after it was asked', () => {
  const canaryOf = (prompt: string) => `${labelPath(prompt, 'production')}/canary`;
  const any = { 'If-Match': '*' };
  const target = { version: 2, share: 0.5, hours: 48 };
  const set = (prompt: string, members: object = {}, key?: string) =>
    harness.service.call('PUT', canaryOf(prompt), {
      body: { ...target, ...members },
      headers: any,
      ...(key !== undefined && { key }),
    });
  const promote = (prompt: string) => harness.service.call('POST', `${canaryOf(prompt)}/promote`, { headers: any });
  const named = async (prompt: string) =>
    (await harness.service.call('GET', labelPath(prompt, 'production'))).body as { version: number; gate?: object };
  const notShown = [409, problem('release-not-shown')];
  /** @returns a prompt with a canary of version 2, which was evaluated before, and what sets its gate again */
  const shown = async (dataset: string, members: object = {}) => {
    const { prompt, gate } = await gated(dataset, members);
    const { id } = await evaluated(harness.service, prompt, { version: 2 });
    expect((await set(prompt)).status).toBe(201);
    const change = async (changed: object) => {
      expect((await setGate(harness.service, prompt, { ...gate, ...changed })).status).toBe(200);
    };
    return { prompt, evaluation: id as string, change };
  };
  /** As `shown`, of a version that the gate never lets in. */
  const overridden = async (dataset: string) => {
    const { prompt, gate } = await gated(dataset);
    expect((await set(prompt, { version: 4, override: 'A hotfix' })).status).toBe(201);
    const change = async (changed: object) => {
      expect((await setGate(harness.service, prompt, { ...gate, ...changed })).status).toBe(200);
    };
    return { prompt, change };
  };
  /** The canary after the end of its hours, in which invocations were counted. */
  const elapsed = async (prompt: string): Promise<string> => {
    const { service } = harness;
    const canary = async () => (await service.call('GET', canaryOf(prompt))).body;
    const variables = { upto60: 'a', upto97: 'a', upto100: 'a' };
    await until(async () => {
      const body = { label: 'production', variables };
      await service.call('POST', `/api/v1/prompts/${prompt}/invoke`, { body });
      return (await canary()).canary.requests >= 1;
    });
    clock.advance(48 * 3_600_000 + 1);
    await until(async () => (await canary()).ended !== undefined);
    return (await canary()).ended.reason as string;
  };

  it.each([
    ['another margin', { rule: { not_worse_by: 0.06 } }],
    ['other checks', { checks: [{ type: 'not-contains', value: 'worse' }] }],
    ['an anchor', { anchor: 3 }],
  ])('is not promoted past one with %s', async (what, changed) => {
    const { prompt, change } = await shown(`changed-${what.replaceAll(' ', '-')}`);
    await change(changed);
    const { status, body } = await promote(prompt);
    expect([status, body.type]).toEqual(notShown);
    expect((await named(prompt)).version).toBe(1);
  });

  it('is promoted by a request when evaluations show it to the gate of now, which are kept', async () => {
    const { prompt, evaluation, change } = await shown('shown-again');
    await change({ rule: { not_worse_by: 0.06 } });
    const { id } = await evaluated(harness.service, prompt, { version: 2 });
    expect((await promote(prompt)).status).toBe(200);
    expect(await named(prompt)).toMatchObject({ version: 2, gate: { evaluations: [id] } });
    expect(id).not.toBe(evaluation);
  });

  it('is not promoted past it at the end of its hours', async () => {
    const { prompt, change } = await shown('changed-at-end');
    expect((await set(prompt, { promote: { min_requests: 1 } })).status).toBe(200);
    await change({ rule: { not_worse_by: 0.06 } });
    expect(await elapsed(prompt)).toBe('time');
    expect((await named(prompt)).version).toBe(1);
  });

  it('is promoted at the end of its hours by the gate that was asked, also if its evaluations are old by then', async () => {
    const { prompt, evaluation } = await shown('aged', { max_age_days: 1 });
    expect((await set(prompt, { promote: { min_requests: 1 } })).status).toBe(200);
    expect(await elapsed(prompt)).toBe('promoted-at-end');
    expect(await named(prompt)).toMatchObject({ version: 2, gate: { evaluations: [evaluation] } });
  });

  it('is asked again whatever the age of evaluations', async () => {
    const { prompt, evaluation, change } = await shown('aged-and-changed', { max_age_days: 2 });
    clock.advance(1.5 * 24 * 3_600_000);
    await change({ max_age_days: 1 });
    expect((await set(prompt, { share: 0.4 })).status).toBe(200);
    await change({ max_age_days: 1, breaking: 'refuse' });
    expect((await promote(prompt)).status).toBe(200);
    expect(await named(prompt)).toMatchObject({ version: 2, gate: { evaluations: [evaluation] } });
  });

  it('keeps no override for another gate, not even for one that only differs in age', async () => {
    const { prompt, change } = await overridden('overridden');
    await change({ max_age_days: 31 });
    const { status, body } = await promote(prompt);
    expect([status, body.type]).toEqual(notShown);
    // The gate for which it was given asks the same again.
    await change({});
    expect((await promote(prompt)).status).toBe(200);
    expect(await named(prompt)).toMatchObject({ version: 4, gate: { override: 'A hotfix' } });
  });

  it('keeps no override for another gate at the end of its hours', async () => {
    const { prompt, change } = await overridden('overridden-at-end');
    expect((await set(prompt, { version: 4, promote: { min_requests: 1 } })).status).toBe(200);
    await change({ breaking: 'refuse' });
    expect(await elapsed(prompt)).toBe('time');
    expect((await named(prompt)).version).toBe(1);
  });

  it.each([
    ['promotes at its end', { promote: { min_requests: 1 } }],
    ['has a larger share', { share: 0.5 }],
    ['lasts longer', { hours: 72 }],
  ])('is not changed past it, so that it %s', async (what, members) => {
    const { prompt, change } = await overridden(`grown-${what.replaceAll(' ', '-')}`);
    await change({ rule: { not_worse_by: 0.06 } });
    const before = (await harness.service.call('GET', canaryOf(prompt))).body;
    const key = await harness.service.createKey('prompts:release');
    const refused = await set(prompt, { version: 4, ...members }, key);
    expect([refused.status, refused.body.type]).toEqual(notShown);
    expect((await harness.service.call('GET', canaryOf(prompt))).body).toEqual(before);
    const without = await set(prompt, { version: 4, ...members, override: 'Again' }, key);
    expect([without.status, without.body.type]).toEqual([403, problem('insufficient-scope')]);
    // An override for the gate of now also holds for the promotion.
    expect((await set(prompt, { version: 4, ...members, override: 'Again' })).status).toBe(200);
    expect((await promote(prompt)).status).toBe(200);
    expect(await named(prompt)).toMatchObject({ version: 4, gate: { override: 'Again' } });
  });

  it('is promoted freely after the gate was removed, and not past the next one', async () => {
    const { service } = harness;
    const { prompt, gate } = await gated('removed');
    expect((await set(prompt, { version: 4, override: 'A hotfix' })).status).toBe(201);
    await service.call('DELETE', `${labelPath(prompt, 'production')}/gate`, { headers: any });
    expect((await set(prompt, { version: 4, share: 0.4 })).status).toBe(200);
    await addGate(service, prompt, gate);
    const { status, body } = await promote(prompt);
    expect([status, body.type]).toEqual(notShown);
    await service.call('DELETE', `${labelPath(prompt, 'production')}/gate`, { headers: any });
    expect((await promote(prompt)).status).toBe(200);
  });
});
