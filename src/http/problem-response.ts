import { problems } from '../../generated/problems.ts';
import { ProblemError } from '../errors/problem-error.ts';

/** A complete HTTP answer with its body. */
export interface RawAnswer {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: string;
  /** The bytes that are sent, if they were made before: the body, perhaps compressed. */
  readonly bytes?: Buffer;
  readonly stream?: undefined;
}

const problemMediaType = 'application/problem+json';

/** The most places that a problem names: the limit of the contract. A body can have thousands of mistakes. */
const maxErrors = 100;

/**
 * Serialises a failure as RFC 9457 problem details. An error that is not a ProblemError becomes `internal-error`, whose
 * detail does not contain the cause.
 * @param instance path of the request
 */
export function problemAnswer(error: unknown, instance: string, requestId: string): RawAnswer {
  const problem =
    error instanceof ProblemError
      ? error
      : new ProblemError('internal-error', {
          detail: 'The service failed unexpectedly. Report the request id to the operator.',
        });
  const body = {
    type: `urn:prompt-gateway:problem:${problem.type}`,
    title: problems[problem.type].title,
    status: problem.status,
    detail: problem.message,
    instance: uriReference(instance.slice(0, 2_000)),
    request_id: requestId,
    ...(problem.errors === undefined ? {} : { errors: problem.errors.slice(0, maxErrors) }),
    ...problem.extensions,
  };
  return {
    status: problem.status,
    headers: { ...problem.headers, 'content-type': problemMediaType },
    body: JSON.stringify(body),
  };
}

/**
 * Escapes characters that some clients send in request lines, although a URI cannot contain them (RFC 3986, section
 * 3.3).
 */
function uriReference(path: string): string {
  return path.replaceAll(/[^\w\-.~!$&'()*+,;=:@/%]|%(?![\dA-Fa-f]{2})/g, (character) => encodeURIComponent(character));
}
