import { ProblemError } from '../../base/errors/problem-error.ts';
import { isListed, listedModels, type ProviderInfo, type ProviderRegistry } from '../../models/provider.ts';

/** What the member `model` names: a stored prompt, perhaps with a label or version, or a model of a provider. */
export type ModelName =
  | { readonly prompt: string; readonly at: string | undefined }
  | { readonly provider: string; readonly model: string };

/**
 * Splits `prompt/<slug or id>[@<label or version>]` and `<provider>/<model>` at the first slash; names of models can
 * have slashes themselves. A name without a slash is the model of the only configured provider that lists it.
 *
 * @throws {ProblemError} model-not-found
 */
export function parseModelName(name: string, providers: Pick<ProviderRegistry, 'list'>): ModelName {
  const slash = name.indexOf('/');
  if (slash === -1) return { provider: findProvider(name, providers), model: name };
  const [kind, rest] = [name.slice(0, slash), name.slice(slash + 1)];
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

/** The most spellings that a problem names. */
const maxSpellings = 5;

function findProvider(model: string, providers: Pick<ProviderRegistry, 'list'>): string {
  const all = providers.list();
  const known = all.filter((provider) => isListed(provider, model));
  const configured = known.filter((provider) => provider.configured);
  const [only, ...others] = configured;
  if (only !== undefined && others.length === 0) return only.id;
  const count = only === undefined ? 'No configured provider' : 'More than one configured provider';
  const likely = known.length > 0 ? known : all.filter((one) => one.configured && hasUndated(one, model));
  const named = (only === undefined ? likely : configured).slice(0, maxSpellings).map(({ id }) => `${id}/${model}`);
  const spellings = named.length === 0 ? 'prompt/<slug> or <provider>/<model>' : named.join(' or ');
  throw modelNotFound(`${count} lists the model ${JSON.stringify(model)}.`, `must name the provider: ${spellings}`);
}

/** Whether a provider lists the name without its end, such as `gpt-4.1` of `gpt-4.1-2025-04-14`: dates are not listed. */
function hasUndated(provider: ProviderInfo, model: string): boolean {
  return listedModels(provider).some((listed) => model.startsWith(`${listed}-`));
}

export function modelNotFound(detail: string, fault: string): ProblemError {
  return new ProblemError('model-not-found', { detail, errors: [{ detail: fault, pointer: '#/model' }] });
}
