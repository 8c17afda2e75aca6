import type { components } from '../../../generated/types.ts';
import type { Condition, WaitingSummary } from './condition.ts';
import { integrationFields, type Integration } from './integration.ts';
import { toStandardSecret } from './signing-secret.ts';
import { defined } from '../../base/runtime/objects.ts';

type Schemas = components['schemas'];

/** What the representation of an integration shows besides its stored fields. */
export interface Surroundings {
  /** Custom headers, masked. */
  readonly headers: Record<string, string>;
  readonly condition: Condition;
  /** Which of its secrets cannot be decrypted, in a sentence. */
  readonly unreadable?: string | undefined;
}

/** An integration as the contract shows it. Fields that are not set are absent; secrets are always absent. */
export function representIntegration(
  integration: Integration,
  { headers, condition, unreadable }: Surroundings,
): Schemas['Integration'] {
  const { rotation, disabled, warning } = integration;
  const { successRate, lastAttemptAt, lastSuccessAt } = condition;
  const { consecutiveFailures, lastFailure, failingDelivery, retryingUntil, waiting } = condition;
  return defined({
    ...integrationFields.show(integration),
    headers,
    signed: integration.secret !== undefined,
    secret_rotation: rotation && { id: rotation.id, started_at: rotation.startedAt.toISOString() },
    disabled_reason: disabled?.reason,
    disabled_at: disabled?.at.toISOString(),
    warning: unreadable === undefined ? warning && representWarning(warning) : unreadableWarning(unreadable),
    success_rate: successRate,
    last_attempt_at: lastAttemptAt?.toISOString(),
    last_success_at: lastSuccessAt?.toISOString(),
    consecutive_failures: consecutiveFailures,
    last_error: lastFailure && representFailure(lastFailure),
    failing_delivery: failingDelivery,
    retrying_until: retryingUntil?.toISOString(),
    waiting: waiting && representWaiting(waiting),
  });
}

function representFailure({
  at,
  status,
  error,
}: NonNullable<Condition['lastFailure']>): NonNullable<Schemas['Integration']['last_error']> {
  return defined({ at: at.toISOString(), status_code: status, error });
}

function representWaiting({
  count,
  oldestAt,
  isEstimated,
}: WaitingSummary): NonNullable<Schemas['Integration']['waiting']> {
  return { count, ...(isEstimated ? { estimated: true } : {}), oldest_at: oldestAt.toISOString() };
}

function unreadableWarning(detail: string): Schemas['IntegrationWarning'] {
  return { type: 'secret-unreadable', detail };
}

function representWarning({
  failingSince,
  disablesAt,
}: NonNullable<Integration['warning']>): Schemas['IntegrationWarning'] {
  const since = failingSince.toISOString();
  return {
    type: 'failing',
    detail: `No delivery has succeeded since ${since}.`,
    failing_since: since,
    disables_at: disablesAt.toISOString(),
  };
}

/** A secret in both forms, for the only answer that shows it. */
export function representSecret(secret: string): Schemas['IssuedSecret'] {
  return { value: secret, standard_webhooks: toStandardSecret(secret) };
}
