import { ProblemError, type ProblemDetail } from '../../base/errors/problem-error.ts';

/** The member's own place in front of the rest of a pointer, or how to find it. */
type OwnPlace = string | ((match: string, ...groups: (string | undefined)[]) => string);

export type Places = readonly (readonly [RegExp, OwnPlace])[];

/** An error with the places of its members in the caller's request. @param rules the first that matches a pointer holds */
export function atOwnPlaces(error: unknown, rules: Places): unknown {
  if (!(error instanceof ProblemError)) return error;
  const { type, message: detail, errors, headers, extensions, cause } = error;
  if (errors === undefined) return error;
  const moved = errors.map((mistake): ProblemDetail => {
    if (!('pointer' in mistake)) return mistake;
    const [from, to] = rules.find(([pattern]) => pattern.test(mistake.pointer)) ?? [/^/, ''];
    // TypeScript declares `replace` for a text and for a function, and not for either of them.
    return { ...mistake, pointer: mistake.pointer.replace(from, to as string) };
  });
  const texts = moved.map((mistake) => JSON.stringify(mistake));
  return new ProblemError(type, {
    detail,
    // Two members can have the same place in the request, and the same mistake.
    errors: moved.filter((_, index) => texts.indexOf(texts[index] ?? '') === index),
    headers: { ...headers },
    extensions: { ...extensions },
    cause,
  });
}
