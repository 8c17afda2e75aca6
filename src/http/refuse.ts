/** Why a request does not match the contract. */
import type { Request } from 'express';
import { ProblemError, type ProblemDetail } from '../base/errors/problem-error.ts';
import type { ReadBody } from './body.ts';
import { explainBody, explainParameters, isSmall } from './explain.ts';
import type { OperationRoute } from './operation.ts';
import { invalidParameters, type ParsedParameters } from './parameters.ts';

export async function refusedParameters(route: OperationRoute, parameters: ParsedParameters): Promise<ProblemError> {
  const thorough = (await route.thorough())[`${route.operationId}Parameters`] ?? route.parameters;
  thorough(parameters);
  const placeOf = ({ detail: _, ...place }: ProblemDetail): string => JSON.stringify(place);
  const { mistakes } = parameters;
  const places = new Set(mistakes.map(placeOf));
  // What could not be read is missing for the validator.
  const others = explainParameters(thorough.errors ?? []).filter((error) => !places.has(placeOf(error)));
  return invalidParameters([...mistakes, ...others]);
}

export async function refusedBody(
  route: OperationRoute,
  body: unknown,
  counted: ReadBody | undefined,
): Promise<ProblemError> {
  if (body === undefined) {
    const errors = [{ detail: 'is required', pointer: '#' }];
    return new ProblemError('invalid-request', { detail: 'The request needs a body.', errors });
  }
  const first = route.body?.errors ?? [];
  // The time to find all errors grows with the square of the body. For a large body only the first error is reported.
  const validate = isSmall(body, counted) ? (await route.thorough())[`${route.operationId}Body`] : undefined;
  validate?.(body);
  const errors = explainBody(route.operationId, validate?.errors ?? first);
  return new ProblemError('invalid-request', { detail: 'The body of the request is not valid.', errors });
}

/** @param mediaTypes of the answers @throws {ProblemError} not-acceptable */
export function requireAcceptable(request: Request, mediaTypes: readonly string[]): void {
  const accept = request.headers.accept;
  if (accept === undefined || accept === '*/*' || accept === 'application/json') return;
  // Answers have a charset, and a caller can also accept the type with the charset.
  const offered = mediaTypes.flatMap((type) => [type, `${type}; charset=utf-8`]);
  if (offered.length > 0 && request.accepts(offered) === false) {
    throw new ProblemError('not-acceptable', {
      detail: `This operation answers only with ${mediaTypes.join(' or ')}.`,
    });
  }
}
