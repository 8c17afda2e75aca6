import { ProblemError } from '../errors/problem-error.ts';

/** What the member `model` names: a stored prompt, perhaps with a label or version, or a model of a provider. */
export type ModelName =
  { readonly prompt: string; readonly at: string | undefined } | { readonly provider: string; readonly model: string };

/**
 * Splits `prompt/<slug or id>[@<label or version>]` and `<provider>/<model>` at the first slash; names of models can
 * have slashes themselves.
 *
 * @throws {ProblemError} model-not-found
 */
export function parseModelName(name: string): ModelName {
  const slash = name.indexOf('/');
  const [kind, rest] = [name.slice(0, Math.max(slash, 0)), name.slice(slash + 1)];
  if (kind === '' || rest === '') {
    throw modelNotFound(
      `The model ${JSON.stringify(name)} is neither "prompt/<slug>" nor "<provider>/<model>".`,
      'must be prompt/<slug> or <provider>/<model>',
    );
  }
  if (kind !== 'prompt') return { provider: kind, model: rest };
  const at = rest.indexOf('@');
  return at === -1 ? { prompt: rest, at: undefined } : { prompt: rest.slice(0, at), at: rest.slice(at + 1) };
}

export function modelNotFound(detail: string, fault: string): ProblemError {
  return new ProblemError('model-not-found', { detail, errors: [{ detail: fault, pointer: '#/model' }] });
}
