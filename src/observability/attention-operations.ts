import type { components } from '../../generated/types.ts';
import { defined } from '../base/runtime/objects.ts';
import type { OperationHandlers } from '../http/operation.ts';
import {
  leastOf,
  type Attention,
  type FailedCanary,
  type FailingDependency,
  type FailingIntegration,
  type FailingPrompt,
  type FailingProvider,
  type RefusingBudget,
} from './attention.ts';

type Item = components['schemas']['AttentionItem'];

/** The kinds in the order of the answer, and the scope that each needs. */
const kinds = [
  ['provider', 'prompts:read'],
  ['budget', 'budgets:read'],
  ['storage', 'metrics:read'],
  ['identity-provider', 'metrics:read'],
  ['prompt', 'invocations:read'],
  ['canary', 'prompts:read'],
  ['integration', 'integrations:read'],
] as const;

export function attentionOperations(attention: Attention): Pick<OperationHandlers, 'getAttention'> {
  return {
    async getAttention({ context: { principal } }) {
      const seesCalls = principal.scopes.has('invocations:read');
      const readers: Readonly<Record<(typeof kinds)[number][0], () => Promise<Item[]>>> = {
        provider: async () => (await attention.providers(seesCalls)).map(showProvider),
        budget: async () => (await attention.budgets(seesCalls)).map(showBudget),
        storage: async () => (await attention.storage()).map((one) => showDependency('storage', one)),
        'identity-provider': () =>
          Promise.resolve(attention.issuer().map((one) => showDependency('identity-provider', one))),
        prompt: async () => (await attention.prompts()).map(showPrompt),
        canary: async () => (await attention.canaries()).map(showCanary),
        integration: async () => (await attention.integrations()).map(showIntegration),
      };
      const seen = kinds.filter(([, scope]) => principal.scopes.has(scope)).map(([kind]) => kind);
      const found = await Promise.all(seen.map((kind) => readers[kind]()));
      return { status: 200, body: { kinds: [...seen], data: found.flat() } };
    },
  };
}

function showProvider({ failure, ...provider }: FailingProvider): Item {
  return defined({
    ...showItem('provider', 'failing', provider),
    problem: failure && urn(failure.problem),
    detail: failure?.detail,
    provider_status: failure?.status,
    provider_message: failure?.message,
  });
}

function showBudget(budget: RefusingBudget): Item {
  return showItem('budget', 'refusing', budget);
}

function showDependency(kind: 'storage' | 'identity-provider', { detail, ...dependency }: FailingDependency): Item {
  return { ...showItem(kind, 'failing', { ...dependency, invocations: undefined }), detail };
}

function showPrompt({ version, of, causedBy, last: { problem, attempts }, ...prompt }: FailingPrompt): Item {
  const attempt = attempts.findLast((one) => one.problem === problem);
  return defined({
    ...showItem('prompt', 'failing', prompt),
    version,
    of,
    caused_by: causedBy,
    problem: problem && urn(problem),
    detail: attempt?.detail,
    provider_status: attempt?.provider_status,
    provider_message: attempt?.provider_message,
  });
}

function showCanary({ label, version, ...prompt }: FailedCanary): Item {
  return { ...showItem('canary', 'rolled-back', { ...prompt, invocations: undefined }), label, version };
}

function showIntegration(integration: FailingIntegration): Item {
  const { isDisabled, disabledReason, consecutiveFailures, lastFailure } = integration;
  return defined({
    ...showItem('integration', isDisabled ? 'disabled' : 'failing', { ...integration, invocations: undefined }),
    count: consecutiveFailures,
    disabled_reason: disabledReason,
    last_error:
      lastFailure &&
      defined({ at: lastFailure.at.toISOString(), status_code: lastFailure.status, error: lastFailure.error }),
  });
}

function showItem(
  kind: Item['kind'],
  status: Item['status'],
  { id, name, since, invocations }: Pick<FailingProvider, 'id' | 'name' | 'since' | 'invocations'>,
): Item {
  return {
    ...{ kind, id, name, status, since: since.toISOString() },
    ...(invocations && {
      count: leastOf(invocations.total),
      ...(typeof invocations.total !== 'number' && { count_is_minimum: true }),
      invocations: { ...invocations.found },
    }),
  };
}

function urn(problem: string): string {
  return `urn:prompt-gateway:problem:${problem}`;
}
