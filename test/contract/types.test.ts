import { Readable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import type { OperationHandler, OperationHandlers, OperationInput, OperationResult } from '../../src/http/operation.ts';
import { ProblemError } from '../../src/base/errors/problem-error.ts';

/** Lines that the compiler must refuse. `tsc` fails when it accepts one of them. */
describe('operation types', () => {
  it('are checked by the compiler', () => {
    // This function is never called. It only has to compile.
    expect(refusals).toBeInstanceOf(Function);
  });
});

function refusals(): void {
  const handlers = {} as OperationHandlers;

  // @ts-expect-error an operation that the contract does not know
  void handlers.inventPrompt;
  // @ts-expect-error a handler is missing: every operation has exactly one
  const incomplete: OperationHandlers = { getLiveness: handlers.getLiveness };
  // @ts-expect-error a handler of another operation
  const swapped: OperationHandler<'createPrompt'> = handlers.deletePrompt;

  const input = {} as OperationInput<'updatePrompt'>;
  const slugOrId: string = input.path.slugOrId;
  // @ts-expect-error a path parameter that the contract does not declare
  void input.path.id;
  // @ts-expect-error a body member that the contract does not declare
  void input.body.owner;
  // @ts-expect-error a header that the operation does not declare
  void input.headers['Idempotency-Key'];
  // @ts-expect-error an operation without a body has none
  void ({} as OperationInput<'getPrompt'>).body.name;

  const deleted: OperationResult<'deletePrompt'> = { status: 200, body: { ok: true } };
  // @ts-expect-error a status that the operation does not declare
  const created: OperationResult<'deletePrompt'> = { status: 201, body: { ok: true } };
  // @ts-expect-error failures are thrown, not returned
  const missing: OperationResult<'getPrompt'> = { status: 404, body: { type: 'x' } };
  // @ts-expect-error a body of another shape
  const wrong: OperationResult<'deletePrompt'> = { status: 200, body: { ok: 'yes' } };
  const undeclared: OperationResult<'deletePrompt'> = {
    status: 200,
    body: { ok: true },
    // @ts-expect-error a response header that the operation does not declare
    headers: { 'X-Model': 'echo-1' },
  };
  // @ts-expect-error a value that the contract does not list; lists are open only for clients
  const later: NonNullable<OperationResult<'getDelivery'>['body']>['status'] = 'a-later-value';
  const content = new Readable();
  const streamed: OperationResult<'getTestRunResults'> = {
    status: 200,
    stream: { mediaType: 'application/json', length: 2, content },
  };
  const otherMedia: OperationResult<'getTestRunResults'> = {
    status: 200,
    // @ts-expect-error a stream of a media type that the operation does not declare
    stream: { mediaType: 'text/event-stream', content },
  };
  // @ts-expect-error a body and a stream of it
  const both: OperationResult<'deletePrompt'> = {
    status: 200,
    body: { ok: true },
    stream: { mediaType: 'application/json', content },
  };
  // @ts-expect-error a stream where the answer is stored for an Idempotency-Key
  const kept: OperationResult<'createTestRun'> = { status: 202, stream: { mediaType: 'application/json', content } };
  // @ts-expect-error a stream where callers share the answer
  const shared: OperationResult<'listTestRuns'> = { status: 200, stream: { mediaType: 'application/json', content } };
  // @ts-expect-error a problem type that the table does not know
  const problem = (): ProblemError => new ProblemError('prompt-on-fire', { detail: '' });

  void [incomplete, swapped, slugOrId, deleted, created, missing, wrong, undeclared, later, problem];
  void [streamed, otherMedia, both, kept, shared];
}
