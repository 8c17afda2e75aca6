import { NotFoundError } from 'prompt-gateway-client';
import type { Texts } from '../../texts/en.ts';
import { gateway } from '../gateway.ts';
import type { navigation } from '../navigation.ts';
import type { Scope } from '../session.ts';
import type { NavigateOptions } from '@tanstack/react-router';

/** Something that has a name. */
export interface Found {
  readonly kind: keyof Texts['shell']['palette']['kinds'];
  /** The entry of the navigation whose icon it has. */
  readonly page: (typeof navigation)[number]['text'];
  readonly name: string;
  /** More that it is found by. */
  readonly detail?: string | undefined;
  /** Not shown, but it is found by it. */
  readonly id?: string;
  readonly target: NavigateOptions;
}

type Options = { readonly signal: AbortSignal };

/** A list without a search: it is read once, and its entries are found by name, detail or id. */
export interface NamedList {
  readonly key: string;
  /** All of them are needed. */
  readonly scopes: readonly Scope[];
  readonly read: (options: Options) => Promise<Found[]>;
}

/** What the service itself searches, once for each text. */
export interface Search {
  readonly scope: Scope;
  readonly find: (text: string, options: Options) => Promise<Found[]>;
}

/** The most entries of a kind. */
export const most = 5;
/** As many as a page of a list can have: more are not found by name. */
const readAtMost = { limit: 100 } as const;

/** One request each. */
export const lists: readonly NamedList[] = [
  {
    key: 'integrations',
    scopes: ['integrations:read'],
    read: async (options) =>
      (await gateway.integrations.list(readAtMost, options)).data.map(({ id, name, url }) => ({
        kind: 'integrations',
        page: 'integrations',
        id,
        name,
        detail: url,
        target: { to: '/integrations/$id', params: { id } },
      })),
  },
  {
    key: 'providers',
    scopes: ['prompts:read'],
    read: async (options) => {
      const providers = await gateway.providers.list(options);
      const first = providers.toSorted((one, other) => Number(other.configured) - Number(one.configured));
      return first.flatMap(({ id, name, models }): Found[] => {
        const target: NavigateOptions = { to: '/providers', search: { provider: id } };
        return [
          { kind: 'providers', page: 'providers', id, name, detail: id, target },
          ...models.map((model): Found => ({ kind: 'models', page: 'providers', name: model, detail: name, target })),
        ];
      });
    },
  },
  {
    key: 'datasets',
    scopes: ['datasets:read'],
    read: async (options) =>
      (await gateway.datasets.list(readAtMost, options)).data.map(({ id, name }) => ({
        kind: 'datasets',
        page: 'datasets',
        id,
        name,
        target: { to: '/datasets/$name', params: { name } },
      })),
  },
  {
    key: 'budgets',
    scopes: ['budgets:read', 'invocations:read'],
    read: async (options) =>
      (await gateway.budgets.list(readAtMost, options)).data.map(({ name }) => ({
        kind: 'budgets',
        page: 'costs',
        name,
        target: { to: '/costs/budgets/$name', params: { name } },
      })),
  },
  {
    key: 'api-keys',
    scopes: ['keys:manage'],
    read: async (options) =>
      (await gateway.apiKeys.list({ status: 'active', ...readAtMost }, options)).data.map(({ id, name, prefix }) => ({
        kind: 'apiKeys',
        page: 'apiKeys',
        id,
        name,
        detail: prefix,
        target: { to: '/api-keys/$id/edit', params: { id } },
      })),
  },
  {
    key: 'people',
    scopes: ['people:manage'],
    read: async (options) =>
      (await gateway.people.list(readAtMost, options)).data.map(({ id, name, email }) => ({
        kind: 'people',
        page: 'people',
        id,
        name,
        detail: email,
        target: { to: '/people/$id', params: { id } },
      })),
  },
  {
    key: 'locations',
    scopes: ['catalog:read'],
    read: async (options) =>
      (await gateway.locations.list(readAtMost, options)).data.map(({ id, name }) => ({
        kind: 'locations',
        page: 'locations',
        id,
        name,
        target: { to: '/locations/$id', params: { id } },
      })),
  },
  {
    key: 'products',
    scopes: ['catalog:read'],
    read: async (options) =>
      (await gateway.products.list(readAtMost, options)).data.map(({ id, name }) => ({
        kind: 'products',
        page: 'products',
        id,
        name,
        target: { to: '/products/$id', params: { id } },
      })),
  },
  {
    key: 'categories',
    scopes: ['catalog:read'],
    read: async (options) =>
      (await gateway.categories.list(readAtMost, options)).data.map(({ id, name }) => ({
        kind: 'categories',
        page: 'products',
        id,
        name,
        target: { to: '/categories/$id', params: { id } },
      })),
  },
];

/** One request each: what can be an id is looked for as an id only. */
export const searches: readonly Search[] = [
  {
    scope: 'prompts:read',
    find: byIdOr(
      async (id, options) => prompt(await gateway.prompts.get(id, options)),
      async (q, options) => (await gateway.prompts.list({ q, limit: most }, options)).data.map(prompt),
    ),
  },
  {
    scope: 'prompts:read',
    find: byIdOr(async (id, options) => {
      const { prompt_id: promptId, dataset } = await gateway.evaluations.get(id, options);
      return {
        kind: 'evaluations',
        page: 'prompts',
        name: dataset.name,
        target: { to: '/prompts/$promptId/evaluations/$evaluationId', params: { promptId, evaluationId: id } },
      };
    }),
  },
  {
    scope: 'orders:read',
    find: byIdOr(
      async (id, options) => order(id, (await gateway.orders.get(id, options)).reference_id),
      async (text, options) =>
        (await gateway.orders.list({ reference_id: text, limit: most }, options)).data.map(({ id }) => order(id, text)),
    ),
  },
  {
    scope: 'integrations:read',
    find: byIdOr(async (id, options) => {
      const { event_type, integration_name } = await gateway.deliveries.get(id, options);
      return {
        kind: 'deliveries',
        page: 'deliveries',
        name: event_type,
        detail: integration_name,
        target: { to: '/deliveries/$id', params: { id } },
      };
    }),
  },
  {
    scope: 'invocations:read',
    find: byIdOr(async (id, options) => {
      const { prompt_slug } = await gateway.invocations.get(id, options);
      return {
        kind: 'invocations',
        page: 'invocations',
        name: prompt_slug ?? id,
        target: { to: '/invocations/$id', params: { id } },
      };
    }),
  },
];

function prompt({ id, name, slug }: { id: string; name: string; slug: string }): Found {
  const target: NavigateOptions = { to: '/prompts/$promptId', params: { promptId: id } };
  return { kind: 'prompts', page: 'prompts', name, detail: slug, target };
}

function order(id: string, reference: string | undefined): Found {
  const target: NavigateOptions = { to: '/orders/$id', params: { id } };
  return { kind: 'orders', page: 'orders', name: id, detail: reference, target };
}

const anId = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

function byIdOr(get: (id: string, options: Options) => Promise<Found>, find?: Search['find']): Search['find'] {
  return async (text, options) => {
    if (!anId.test(text)) return find === undefined ? [] : find(text, options);
    try {
      return [await get(text, options)];
    } catch (error) {
      if (error instanceof NotFoundError) return [];
      throw error;
    }
  };
}
