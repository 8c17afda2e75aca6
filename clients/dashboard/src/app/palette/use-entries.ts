import { IconPlus, type Icon } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import type { NavigateOptions } from '@tanstack/react-router';
import { NotFoundError } from 'prompt-gateway-client';
import { useTexts } from '../../shared/texts.tsx';
import type { Texts } from '../../texts/en.ts';
import { gateway } from '../gateway.ts';
import { entriesFor, navigation } from '../navigation.ts';
import type { Scope } from '../session.ts';
import { useSession } from '../session-context.ts';

/** Something that the palette leads to. */
export interface Entry {
  readonly key: string;
  readonly name: string;
  /** What it is. */
  readonly hint: string;
  readonly icon: Icon;
  readonly target: NavigateOptions;
}

/** Something that was found: what it is, as in the navigation, and where it is. */
interface Found {
  readonly kind: keyof Texts['shell']['entries'];
  readonly name: string;
  readonly detail?: string | undefined;
  readonly target: NavigateOptions;
}

type Options = { readonly signal: AbortSignal };

interface Source {
  readonly scope: Scope;
  readonly find: (text: string, options: Options) => Promise<Found[]>;
}

/** The most entries of a kind. */
const most = 5;
/** Integrations that are searched by name. */
const mostIntegrations = 500;
const anId = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const creations = [
  { to: '/prompts/new', text: 'prompt', scope: 'prompts:write' },
  { to: '/prompts/import', text: 'promptImport', scope: 'prompts:write' },
  { to: '/integrations/new', text: 'integration', scope: 'integrations:manage' },
  { to: '/orders/new', text: 'order', scope: 'orders:write' },
  { to: '/locations/new', text: 'location', scope: 'catalog:write' },
  { to: '/api-keys/new', text: 'apiKey', scope: 'keys:manage' },
] as const satisfies readonly { to: string; text: keyof Texts['shell']['palette']['creations']; scope: Scope }[];

/** Where things are found. What has no search is found by its whole id. */
const sources: readonly Source[] = [
  {
    scope: 'prompts:read',
    find: async (q, options) =>
      (await gateway.prompts.list({ q, limit: most }, options)).data.map(({ id, name, slug }) =>
        prompt(id, name, slug),
      ),
  },
  {
    scope: 'prompts:read',
    find: byId(async (id, options) => {
      const { name, slug } = await gateway.prompts.get(id, options);
      return prompt(id, name, slug);
    }),
  },
  {
    scope: 'integrations:read',
    find: async (text, options) => {
      const all = await gateway.integrations.list({ limit: 100 }, options).toArray({ limit: mostIntegrations });
      return all
        .filter(({ id, name, url }) => id === text || `${name} ${url}`.toLowerCase().includes(text.toLowerCase()))
        .slice(0, most)
        .map(({ id, name, url }) => ({
          kind: 'integrations',
          name,
          detail: url,
          target: { to: '/integrations/$id', params: { id } },
        }));
    },
  },
  {
    scope: 'orders:read',
    find: async (text, options) =>
      (await gateway.orders.list({ reference_id: text, limit: most }, options)).data.map(({ id }) => order(id, text)),
  },
  {
    scope: 'orders:read',
    find: byId(async (id, options) => order(id, (await gateway.orders.get(id, options)).reference_id)),
  },
  {
    scope: 'integrations:read',
    find: byId(async (id, options) => {
      const { event_type, integration_name } = await gateway.deliveries.get(id, options);
      return {
        kind: 'deliveries',
        name: event_type,
        detail: integration_name,
        target: { to: '/deliveries/$id', params: { id } },
      };
    }),
  },
  {
    scope: 'invocations:read',
    find: byId(async (id, options) => {
      const { prompt_slug } = await gateway.invocations.get(id, options);
      return { kind: 'invocations', name: prompt_slug ?? id, target: { to: '/invocations/$id', params: { id } } };
    }),
  },
];

/**
 * What the palette offers: the pages and what can be created, and what was found.
 * @param text what is typed
 * @param searched the same, as soon as it has not changed for a moment
 */
export function useEntries(text: string, searched: string): { entries: readonly Entry[]; isSearching: boolean } {
  const { shell } = useTexts();
  const { scopes } = useSession().key;
  const { palette: texts } = shell;
  const search = useQuery({
    queryKey: ['palette', searched],
    queryFn: async ({ signal }) => {
      const asked = sources.filter(({ scope }) => scopes.includes(scope));
      const found = await Promise.allSettled(asked.map(({ find }) => find(searched, { signal })));
      return found.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
    },
    enabled: searched !== '',
    staleTime: 30_000,
  });
  const wanted = text.toLowerCase();
  const isWanted = ({ name }: Entry): boolean => name.toLowerCase().includes(wanted);
  const pages = entriesFor(scopes).map(({ to, text: name, icon }) => ({
    key: to,
    name: shell.entries[name],
    hint: texts.page,
    icon,
    target: { to } as NavigateOptions,
  }));
  const actions = creations
    .filter(({ scope }) => scopes.includes(scope))
    .map(({ to, text: name }) => ({
      key: to,
      name: texts.creations[name],
      hint: texts.action,
      icon: IconPlus,
      target: { to } as NavigateOptions,
    }));
  const found = (text === searched ? (search.data ?? []) : []).map(({ kind, name, detail, target }) => ({
    key: JSON.stringify(target),
    name,
    hint: [texts.kinds[kind as keyof typeof texts.kinds], detail].filter((part) => part !== undefined).join(' · '),
    icon: iconOf(kind),
    target,
  }));
  const unique = new Map([...found, ...[...pages, ...actions].filter(isWanted)].map((entry) => [entry.key, entry]));
  return { entries: [...unique.values()], isSearching: text !== '' && (text !== searched || search.isFetching) };
}

function prompt(id: string, name: string, slug: string): Found {
  return { kind: 'prompts', name, detail: slug, target: { to: '/prompts/$promptId', params: { promptId: id } } };
}

function order(id: string, reference: string | undefined): Found {
  return { kind: 'orders', name: id, detail: reference, target: { to: '/orders/$id', params: { id } } };
}

/** Finds one thing, if the text can be its id. */
function byId(get: (id: string, options: Options) => Promise<Found>): Source['find'] {
  return async (text, options) => {
    if (!anId.test(text)) return [];
    try {
      return [await get(text, options)];
    } catch (error) {
      if (error instanceof NotFoundError) return [];
      throw error;
    }
  };
}

function iconOf(kind: Found['kind']): Icon {
  return navigation.find(({ text }) => text === kind)?.icon ?? IconPlus;
}
