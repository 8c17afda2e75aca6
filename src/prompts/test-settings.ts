import { ProblemError } from '../base/errors/problem-error.ts';
import { isLongerAsJson } from '../base/runtime/json-size.ts';
import { json, type Kind } from '../base/fields/kinds.ts';

/** The largest test settings, in bytes of JSON text without blanks. */
export const longestTestSettings: number = 16 * 1024;

/** Any JSON value. `read` throws the problem `invalid-request` when it is larger than 16 KiB. */
export const testSettings: Kind<unknown, string> = {
  ...json<unknown>(),
  read(sent) {
    if (isLongerAsJson(sent, longestTestSettings))
      throw refusal(`must have at most ${longestTestSettings} bytes as JSON text`);
    return JSON.parse(JSON.stringify(sent));
  },
};

function refusal(detail: string): ProblemError {
  return new ProblemError('invalid-request', {
    detail: 'The body of the request is not valid.',
    errors: [{ detail, pointer: '#/test_settings' }],
  });
}
