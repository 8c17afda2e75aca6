import { describe, expect, it } from '@jest/globals';
import { isProblemOf, NotFoundError, type PromptGateway, type Schemas } from '../../clients/typescript/src/index.ts';

declare module '../../clients/typescript/src/index.ts' {
  interface StoredPrompts {
    'types-of-the-client': { name: string; tone?: string };
    'nothing-required': { tone?: string };
  }
  interface LabelledPrompts {
    'labelled-here': { 'types-of-the-client': { title: string }; 'nothing-required': { tone?: string } };
    'labelled-too': { 'types-of-the-client': { title?: string } };
  }
  interface LabelledObjects {
    'labelled-here': { 'types-of-the-client': { rank: number } };
  }
}

/** Lines that the compiler must refuse. `tsc` fails when it accepts one of them. */
describe('types of the client', () => {
  it('are checked by the compiler', () => {
    // This function is never called. It only has to compile.
    expect([calls, labels, streams, answers, errors]).toEqual(expect.arrayContaining([expect.any(Function)]));
  });
});

function calls(gateway: PromptGateway): void {
  // @ts-expect-error an operation that the contract does not know
  void gateway.prompts.publish('greeter');
  // @ts-expect-error a resource that the contract does not know
  void gateway.customers;
  // @ts-expect-error a misspelt member of a body
  void gateway.prompts.invoke('greeter', { variabels: {} });
  // @ts-expect-error a body without a required member
  void gateway.orders.create({ location_id: 'x' });
  // @ts-expect-error a misspelt member of a query
  void gateway.orders.list({ statsu: 'open' });
  // @ts-expect-error a value that the filter does not accept
  void gateway.orders.list({ status: 'closed' });
  // @ts-expect-error a version is a number
  void gateway.promptVersions.get('greeter', '3');
  // @ts-expect-error completing an order takes no Idempotency-Key
  void gateway.orders.complete('x', { idempotencyKey: 'k' });
  void gateway.orders.complete('x', { ifMatch: '"e"' });
  // @ts-expect-error reading an order takes no If-Match
  void gateway.orders.get('x', { ifMatch: '"e"' });
  // @ts-expect-error a header of the operation with a value of another type
  void gateway.prompts.invoke('greeter', {}, { headers: { 'X-Timeout-Ms': 'soon' } });
  void gateway.prompts.invoke('greeter', {}, { headers: { 'X-Timeout-Ms': 5_000, 'X-My-Proxy': 'yes' } });
  void gateway.orders.list({}, { headers: { 'X-My-Proxy': 'yes' } });
  // Operations without headers of their own.
  void gateway.service.getInfo({ headers: { 'X-My-Proxy': 'yes' } });
  void gateway.testRuns.getResults('x', { headers: { 'X-My-Proxy': 1 } });
  // @ts-expect-error a header is text or a number
  void gateway.service.getInfo({ headers: { 'X-My-Proxy': true } });
  // @ts-expect-error reading the service's name takes no Idempotency-Key
  void gateway.service.getInfo({ idempotencyKey: 'k' });
  // @ts-expect-error an unknown option of a list
  void gateway.orders.list().toArray();

  void gateway.prompts.invoke('types-of-the-client', { variables: { name: 'Ada' } });
  // @ts-expect-error a variable of the stored prompt is missing
  void gateway.prompts.invoke('types-of-the-client', { variables: { tone: 'kind' } });
  // @ts-expect-error a variable of the stored prompt is misspelt
  void gateway.prompts.invoke('types-of-the-client', { variables: { name: 'Ada', tune: 'kind' } });
  // @ts-expect-error the stored prompt needs variables
  void gateway.prompts.invoke('types-of-the-client');
  const request: Schemas['InvokeRequest'] = {};
  void gateway.prompts.invoke('any-prompt', request);
  void gateway.prompts.stream('any-prompt', request);
  void gateway.prompts.invoke('nothing-required');
  // Another version, or another prompt, can have different variables.
  void gateway.prompts.invoke('types-of-the-client', { version: 1, variables: { title: 'Countess' } });
  void gateway.prompts.invoke('types-of-the-client', { label: 'production', variables: { title: 'Countess' } });
  void gateway.prompts.invoke('another-prompt', { variables: { title: 'Countess' } });
  void gateway.prompts.invoke(String('greeter'), { variables: { title: 'Countess' } });
  void gateway.prompts.render('types-of-the-client', { variables: { name: 'Ada' } });
  // @ts-expect-error rendering takes the same variables
  void gateway.prompts.render('types-of-the-client', { variables: { tone: 'kind' } });
  // @ts-expect-error a test run takes the same variables
  void gateway.testRuns.create('types-of-the-client', { providers: [], variables: {} });

  // @ts-expect-error the raw client knows the paths of the contract
  void gateway.raw.GET('/api/v1/prompt');
  void gateway.raw.GET('/api/v1/prompts/{slugOrId}', { params: { path: { slugOrId: 'greeter' } } });
}

async function labels(gateway: PromptGateway, other: string, chosen: boolean): Promise<void> {
  const label = 'labelled-here';
  const variables = { title: 'Countess' };
  const { object } = await gateway.prompts.invoke('types-of-the-client', { label, variables });
  const rank: number | undefined = object?.rank;
  const streamed = await gateway.prompts.stream('types-of-the-client', { label, variables }).final();
  void [rank, streamed.object?.rank];
  void gateway.prompts.render('types-of-the-client', { label, variables });
  void gateway.prompts.invoke('nothing-required', { label });
  void gateway.prompts.invoke('types-of-the-client', { label: 'labelled-too', variables: {} });
  // @ts-expect-error a variable of the version with the label is missing
  void gateway.prompts.invoke('types-of-the-client', { label, variables: { name: 'Ada' } });
  // @ts-expect-error a variable of the version with the label is missing
  void gateway.prompts.stream('types-of-the-client', { label, variables: { name: 'Ada' } });
  // @ts-expect-error a variable of the version with the label is missing
  void gateway.prompts.render('types-of-the-client', { label, variables: { name: 'Ada' } });
  // @ts-expect-error a variable of the version with the label is misspelt
  void gateway.prompts.invoke('types-of-the-client', { label: 'labelled-too', variables: { tilte: 'Countess' } });
  // @ts-expect-error the version with the label needs variables
  void gateway.prompts.invoke('types-of-the-client', { label });
  // @ts-expect-error a label and a version name two versions
  void gateway.prompts.invoke('types-of-the-client', { label, version: 1, variables });
  const format = { type: 'json' } as const;
  const { object: mine } = await gateway.prompts.invoke('types-of-the-client', {
    label,
    variables,
    response_format: format,
  });
  // @ts-expect-error another format has other objects
  void mine?.rank;
  // A label that is in no file, or another prompt, can have different variables.
  void gateway.prompts.invoke('types-of-the-client', { label: other, variables: { any: 1 } });
  void gateway.prompts.invoke('another-prompt', { label, variables: { any: 1 } });
  const selection = chosen ? { version: 1 } : { label: other };
  void gateway.prompts.invoke('types-of-the-client', { ...selection, variables: { any: 1 } });
}

async function streams(gateway: PromptGateway): Promise<void> {
  // @ts-expect-error the method decides whether the answer is a stream
  void gateway.prompts.invoke('greeter', { stream: true });
  // @ts-expect-error a stream is always one
  void gateway.prompts.stream('greeter', { stream: false });
  void gateway.prompts.stream('types-of-the-client', { variables: { name: 'Ada' } });
  // @ts-expect-error a stream takes the variables of the stored prompt
  void gateway.prompts.stream('types-of-the-client', { variables: { tone: 'kind' } });
  void gateway.prompts.stream('greeter', {}, { idleTimeout: 5_000, idempotencyKey: 'k', headers: { 'X-Mine': 'm' } });
  // @ts-expect-error a call without a stream has no silence
  void gateway.prompts.invoke('greeter', {}, { idleTimeout: 5_000 });
  await using stream = gateway.prompts.stream('greeter');
  for await (const event of stream) {
    // @ts-expect-error only some events have a text
    void event.delta;
    // @ts-expect-error an `error` event is thrown
    void (event.type === 'error');
    if (event.type === 'text') {
      const delta: string = event.delta;
      void delta;
    } else if (event.type === 'tool-call') {
      const call: Schemas['ToolCall'] = event.tool_call;
      void call;
    } else if (event.type !== 'start' && event.type !== 'finish') {
      // A type of a later release.
      const type: string = String(event.type);
      void type;
    }
  }
  const { text, provider, version } = await stream.final();
  const facts: [string, string, number] = [text, provider, version];
  void facts;
}

async function answers(gateway: PromptGateway): Promise<void> {
  const order: Schemas['Order'] = await gateway.orders.get('x');
  // @ts-expect-error a member that an order does not have
  void order.price;
  const perhaps = await gateway.orders.get('x', { ifNoneMatch: '"e"' });
  // @ts-expect-error with `ifNoneMatch` there may be no content
  void perhaps.total;
  // Value lists of answers are open, and editors complete the known values.
  const isOpen: boolean = order.status === 'open';
  const later: Schemas['Order']['status'] = 'a-later-value';
  type FailureType = Schemas['TestError']['type'];
  const failure: Extract<FailureType, `${string}:provider-timeout`> = 'urn:prompt-gateway:problem:provider-timeout';
  const laterFailure: FailureType = 'urn:prompt-gateway:problem:a-later-one';
  for await (const entry of gateway.orders.list()) {
    // @ts-expect-error a member that the entries of this list do not have
    void entry.variables;
  }
  const run = await gateway.testRuns.create('greeter', { providers: [] });
  const results: unknown[] = run.results;
  const options = { headers: { Prefer: 'respond-async' } };
  const started = await gateway.testRuns.create('greeter', { providers: [] }, options);
  // @ts-expect-error this answer is sent before the results exist
  void started.results;
  const metrics: string = await gateway.service.getMetrics();
  void [isOpen, later, failure, laterFailure, results, metrics];
}

function errors(error: unknown): void {
  if (isProblemOf(error, 'orders.create')) {
    // @ts-expect-error a status that the operation does not declare
    void (error.status === 404);
    // @ts-expect-error a problem type that the operation does not have
    void (error.type === 'urn:prompt-gateway:problem:prompt-not-found');
    // @ts-expect-error a problem type without its prefix
    void (error.type === 'unknown-product');
    if (error.type === 'urn:prompt-gateway:problem:unknown-product') {
      const status: 422 = error.status;
      void status;
    }
    if (error.status === 401) {
      const type: 'urn:prompt-gateway:problem:unauthenticated' = error.type;
      void type;
    }
  }
  if (error instanceof NotFoundError) {
    // @ts-expect-error a problem type of another group
    void (error.type === 'urn:prompt-gateway:problem:slug-taken');
    void (error.type === 'urn:prompt-gateway:problem:order-not-found');
  }
  // @ts-expect-error an operation that the client does not have
  void isProblemOf(error, 'orders.place');
}
