import type { Precondition } from '../../base/editing/edits.ts';
import { requireUnchanged } from '../../base/editing/read-only-fields.ts';
import { ifMatchRevision } from '../../http/conditional.ts';
import type { OperationHandlers } from '../../http/operation.ts';
import { answerPage } from '../../http/list-answer.ts';
import { withLookUp } from '../../base/lists/listing.ts';
import { soundCondition, type Condition } from './condition.ts';
import { integrationFields, type Integration } from './integration.ts';
import type { Integrations } from './integrations.ts';
import { representIntegration, representSecret } from './integration-representation.ts';
import { generateSecret } from './signing-secret.ts';

type IntegrationOperations = Pick<
  OperationHandlers,
  | 'createIntegration'
  | 'listIntegrations'
  | 'getIntegration'
  | 'updateIntegration'
  | 'deleteIntegration'
  | 'pauseIntegration'
  | 'enableIntegration'
  | 'beginSecretRotation'
  | 'finishSecretRotation'
  | 'cancelSecretRotation'
>;

export interface ReadCondition {
  condition(integration: Integration): Promise<Condition>;
  /** The conditions of many receivers, by the ids of their integrations, without waiting deliveries. */
  conditions(integrations: readonly Integration[]): Promise<ReadonlyMap<string, Condition>>;
}

/** Deliveries of the last day that have ended. */
interface Ended {
  readonly deliveries_succeeded: number;
  readonly deliveries_failed: number;
}

/** Reads them, by the ids of up to 100 integrations. */
export interface ReadDeliveries {
  ofIntegrations(ids: readonly string[]): Promise<ReadonlyMap<string, Ended>>;
}

/**
 * Fields that a PUT can send with any value: the headers, which it changes, and the receiver's condition, which
 * `If-Match` ignores too.
 */
const uncompared = new Set([
  ...['headers', 'success_rate', 'last_attempt_at', 'last_success_at'],
  ...['consecutive_failures', 'last_error', 'failing_delivery', 'retrying_until', 'waiting'],
]);
const collectionPath = '/api/v1/integrations';

export function integrationOperations(
  integrations: Integrations,
  receivers: ReadCondition,
  deliveries: ReadDeliveries,
): IntegrationOperations {
  const represent = (integration: Integration, condition: Condition): Shown => {
    const headers = integrations.headersOf(integration);
    const unreadable = integrations.unreadableOf(integration);
    return {
      tag: entityTag(integration, condition),
      body: representIntegration(integration, { headers, condition, unreadable }),
    };
  };
  const show = async (integration: Integration): Promise<Shown> => {
    const { id } = integration;
    const [condition, counted] = await Promise.all([receivers.condition(integration), deliveries.ofIntegrations([id])]);
    return represent(integration, { ...condition, successRate: successRate(counted.get(id)) });
  };
  const answer = async (
    integration: Integration,
  ): Promise<{ status: 200; headers: { ETag: string }; body: Shown['body'] }> => {
    const { tag, body } = await show(integration);
    return { status: 200, headers: { ETag: tag }, body };
  };

  return {
    async createIntegration({ body, context }) {
      const { headers = {}, secret, unsigned = false } = body;
      const isMade = secret === undefined && !unsigned;
      const content = { ...integrationFields.readNew(body), headers };
      const key = isMade ? generateSecret() : secret;
      const integration = await integrations.create(content, key, context.resourceId, context);
      integrations.requireReadable(integration);
      // An earlier attempt may have stored another secret.
      const issued = isMade ? integrations.secretOf(integration) : undefined;
      const shown = await show(integration);
      return {
        status: 201,
        headers: { Location: `${collectionPath}/${integration.id}`, ETag: shown.tag },
        body: { ...shown.body, ...shownOnce(issued) },
      };
    },
    listIntegrations(input) {
      const withConditions = async (found: readonly Integration[]) => {
        const [conditions, counted] = await Promise.all([
          receivers.conditions(found),
          deliveries.ofIntegrations(found.map(({ id }) => id)),
        ]);
        return (integration: Integration) => {
          const condition = conditions.get(integration.id) ?? soundCondition;
          return { integration, condition: { ...condition, successRate: successRate(counted.get(integration.id)) } };
        };
      };
      return answerPage(
        input,
        () => withLookUp(integrations.list(input.query.status, input.context.principal.reach), withConditions),
        ({ integration, condition }) => represent(integration, condition).body,
      );
    },
    async getIntegration({ path }) {
      const integration = await integrations.get(path.id);
      integrations.requireReadable(integration);
      return await answer(integration);
    },
    async updateIntegration({ path, headers, body, context }) {
      const change = { ...integrationFields.readChange(body), headers: body.headers };
      const fixed = Object.entries(integrationFields.others(body)).filter(([name]) => !uncompared.has(name));
      const shown = (present: Integration): object =>
        representIntegration(present, {
          headers: {},
          condition: soundCondition,
          unreadable: integrations.unreadableOf(present),
        });
      const isMatch = matches(headers);
      return await answer(
        await integrations.update(
          path.id,
          change,
          (present) => isMatch(present) && requireUnchanged(Object.fromEntries(fixed), shown(present)),
          context,
        ),
      );
    },
    async deleteIntegration({ path, headers, context }) {
      await integrations.remove(path.id, matches(headers), context);
      return { status: 200, body: { ok: true } };
    },
    async pauseIntegration({ path, headers, context }) {
      return await answer(await integrations.pause(path.id, matches(headers), context));
    },
    async enableIntegration({ path, headers, context }) {
      return await answer(await integrations.enable(path.id, matches(headers), context));
    },
    async beginSecretRotation({ path, headers: conditions, body, context }) {
      const issued = body?.secret === undefined ? generateSecret() : undefined;
      const secret = body?.secret ?? issued ?? '';
      const integration = await integrations.beginRotation(path.id, secret, matches(conditions), context);
      const { status, headers, body: shown } = await answer(integration);
      return { status, headers, body: { ...shown, ...shownOnce(issued) } };
    },
    async finishSecretRotation({ path, headers, body: { rotation_id }, context }) {
      return await answer(await integrations.finishRotation(path.id, rotation_id, matches(headers), context));
    },
    async cancelSecretRotation({ path, headers, context }) {
      return await answer(await integrations.cancelRotation(path.id, matches(headers), context));
    },
  };
}

/** The entity tag of an integration. It changes whenever its representation changes. */
function entityTag({ id, revision }: Integration, condition: Condition): string {
  const { consecutiveFailures, successRate, lastAttemptAt, failingDelivery, retryingUntil, waiting } = condition;
  const failing = failingDelivery && `${failingDelivery.id.slice(0, 8)}${failingDelivery.attempt_number}`;
  const waits = waiting === undefined ? [] : [waiting.count, waiting.oldestAt.getTime(), Number(waiting.isEstimated)];
  const times = [lastAttemptAt?.getTime() ?? '', retryingUntil?.getTime() ?? '', failing ?? ''];
  const shown = [consecutiveFailures, successRate ?? '', ...times, ...waits].join('-').replace(/-+$/, '');
  return `"${id}.${revision}.${shown}"`;
}

function successRate(ended: Ended | undefined): number | undefined {
  if (ended === undefined) return undefined;
  const { deliveries_succeeded: succeeded, deliveries_failed: failed } = ended;
  return succeeded + failed === 0 ? undefined : succeeded / (succeeded + failed);
}

/** Failures and waiting deliveries are not compared: an edit does not overwrite them, and they change all the time. */
function matches({ 'If-Match': field }: { readonly 'If-Match'?: string }): Precondition<Integration> {
  return (present) => ifMatchRevision(field, present);
}

interface Shown {
  readonly tag: string;
  readonly body: ReturnType<typeof representIntegration>;
}

function shownOnce(secret: string | undefined): { secret?: ReturnType<typeof representSecret> } {
  return secret === undefined ? {} : { secret: representSecret(secret) };
}
