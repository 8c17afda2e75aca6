import { useScope, useSession } from '../../app/session-context.ts';
import { gateway } from '../../app/gateway.ts';
import { useExistence } from './queries.ts';

/** Steps of a new installation. */
export const stepNames = ['prompt', 'apiKey', 'integration', 'location'] as const;

export type StepName = (typeof stepNames)[number];

/** A step that the key may take. */
export interface Step {
  name: StepName;
  /** Undefined while it is not known. */
  isDone: boolean | undefined;
}

/** The first steps of those who may take them. */
export interface FirstSteps {
  steps: readonly Step[];
  error: unknown;
  retry: () => void;
}

/**
 * Finds out which first steps are done, from what exists.
 * @param isNeeded whether to ask at all
 */
export function useFirstSteps(isNeeded: boolean): FirstSteps {
  const { id: ownKey } = useSession().key;
  const may = {
    integration: [useScope('integrations:read'), useScope('integrations:manage')].every(Boolean),
    location: [useScope('catalog:read'), useScope('catalog:write')].every(Boolean),
    prompt: [useScope('prompts:read'), useScope('prompts:write')].every(Boolean),
    apiKey: useScope('keys:manage'),
  };
  const one = { limit: 1 };
  const found = {
    integration: useExistence(
      'integration',
      async (options) => (await gateway.integrations.list(one, options)).data.length > 0,
      isNeeded && may.integration,
    ),
    location: useExistence(
      'location',
      async (options) => (await gateway.locations.list(one, options)).data.length > 0,
      isNeeded && may.location,
    ),
    prompt: useExistence(
      'prompt',
      async (options) => (await gateway.prompts.list(one, options)).data.length > 0,
      isNeeded && may.prompt,
    ),
    // The key that is signed in is that of the operator, not of an application.
    apiKey: useExistence(
      'api-key',
      async (options) => {
        const { data } = await gateway.apiKeys.list({ status: 'active', limit: 2 }, options);
        return data.some(({ id }) => id !== ownKey);
      },
      isNeeded && may.apiKey,
    ),
  };
  const names = stepNames.filter((name) => may[name]);
  return {
    steps: names.map((name) => ({ name, isDone: found[name].data })),
    error: names.map((name) => found[name].error).find((error) => error !== null),
    retry: () => {
      for (const name of names) if (found[name].isError) void found[name].refetch();
    },
  };
}
