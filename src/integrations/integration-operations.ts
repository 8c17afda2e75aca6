import { ProblemError } from '../errors/problem-error.ts';
import type { OperationHandlers } from '../http/operation.ts';
import { nextPageLink } from '../http/page.ts';
import { soundCondition, type Condition } from './condition.ts';
import { entityTag, matchesTag } from './entity-tag.ts';
import type { Integration } from './integration.ts';
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

/** Tells how receivers are doing. */
export interface ReadCondition {
  condition(integration: Integration): Promise<Condition>;
  /** Of many, by the ids of their integrations; without what waits. */
  conditions(integrations: readonly Integration[]): Promise<ReadonlyMap<string, Condition>>;
}

const collectionPath = '/api/v1/integrations';

/** The contract's operations on integrations. */
export function integrationOperations(integrations: Integrations, receivers: ReadCondition): IntegrationOperations {
  const represent = (integration: Integration, condition: Condition): Shown => {
    const headers = integrations.headersOf(integration);
    return {
      tag: entityTag(integration, condition),
      body: representIntegration(integration, { headers, condition }),
    };
  };
  const show = async (integration: Integration): Promise<Shown> =>
    represent(integration, await receivers.condition(integration));
  const answer = async (
    integration: Integration,
  ): Promise<{ status: 200; headers: { ETag: string }; body: Shown['body'] }> => {
    const { tag, body } = await show(integration);
    return { status: 200, headers: { ETag: tag }, body };
  };

  return {
    async createIntegration({ body: { name, url, event_types, headers = {}, secret, generate_secret }, context }) {
      const isMade = generate_secret === true;
      if (isMade && secret !== undefined) throw twoSecrets();
      const issued = isMade ? generateSecret() : undefined;
      const content = { name, url, eventTypes: event_types, headers };
      const integration = await integrations.create(content, issued ?? secret, context.resourceId);
      const { tag, body } = await show(integration);
      return {
        status: 201,
        headers: { Location: `${collectionPath}/${integration.id}`, ETag: tag },
        body: { ...body, ...shownOnce(issued) },
      };
    },
    async listIntegrations({ query: { limit = 20, offset = 0 } }) {
      const { integrations: found, total } = await integrations.list(limit, offset);
      const conditions = await receivers.conditions(found);
      const pagination = { total, limit, offset };
      return {
        status: 200,
        headers: nextPageLink(collectionPath, pagination, found.length),
        body: {
          data: found.map(
            (integration) => represent(integration, conditions.get(integration.id) ?? soundCondition).body,
          ),
          pagination,
        },
      };
    },
    async getIntegration({ path }) {
      return await answer(await integrations.get(path.id));
    },
    async updateIntegration({ path, headers: { 'If-Match': field }, body: { name, url, event_types, headers } }) {
      const change = { name, url, eventTypes: event_types, headers };
      return await answer(await integrations.update(path.id, change, (present) => matchesTag(field, present)));
    },
    async deleteIntegration({ path, headers: { 'If-Match': field } }) {
      await integrations.remove(path.id, (present) => matchesTag(field, present));
      return { status: 200, body: { ok: true } };
    },
    async pauseIntegration({ path }) {
      return await answer(await integrations.pause(path.id));
    },
    async enableIntegration({ path }) {
      return await answer(await integrations.enable(path.id));
    },
    async beginSecretRotation({ path, body }) {
      const issued = body?.secret === undefined ? generateSecret() : undefined;
      const integration = await integrations.beginRotation(path.id, body?.secret ?? issued ?? '');
      const { status, headers, body: shown } = await answer(integration);
      return { status, headers, body: { ...shown, ...shownOnce(issued) } };
    },
    async finishSecretRotation({ path, body: { rotation_id } }) {
      return await answer(await integrations.finishRotation(path.id, rotation_id));
    },
    async cancelSecretRotation({ path }) {
      return await answer(await integrations.cancelRotation(path.id));
    },
  };
}

interface Shown {
  readonly tag: string;
  readonly body: ReturnType<typeof representIntegration>;
}

function shownOnce(secret: string | undefined): { secret?: ReturnType<typeof representSecret> } {
  return secret === undefined ? {} : { secret: representSecret(secret) };
}

function twoSecrets(): ProblemError {
  return new ProblemError('invalid-request', {
    detail: 'The body of the request is not valid.',
    errors: [{ detail: 'cannot be sent along with generate_secret', pointer: '#/secret' }],
  });
}
