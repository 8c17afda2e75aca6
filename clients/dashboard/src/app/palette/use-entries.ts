import { IconBook2, IconPlus, type Icon } from '@tabler/icons-react';
import { useQueries, useQuery } from '@tanstack/react-query';
import type { NavigateOptions } from '@tanstack/react-router';
import { guides } from '../../generated/guides.ts';
import { useTexts } from '../../shared/texts.tsx';
import type { Texts } from '../../texts/en.ts';
import { serviceUrl } from '../gateway.ts';
import { entriesFor, navigation } from '../navigation.ts';
import type { Scope } from '../session.ts';
import { useSession } from '../session-context.ts';
import { lists, most, searches, type Found } from './sources.ts';

/** Something that the palette leads to. */
export interface Entry {
  readonly key: string;
  readonly name: string;
  /** What it is. */
  readonly hint: string;
  readonly icon: Icon;
  /** Where it is: in the dashboard, or an address outside of it. */
  readonly target: NavigateOptions | string;
}

const creations = [
  { to: '/prompts/new', text: 'prompt', scope: 'prompts:write' },
  { to: '/prompts/import', text: 'promptImport', scope: 'prompts:write' },
  { to: '/dataset-import', text: 'dataset', scope: 'datasets:write' },
  { to: '/costs/budgets/new', text: 'budget', scope: 'budgets:write' },
  { to: '/integrations/new', text: 'integration', scope: 'integrations:manage' },
  { to: '/orders/new', text: 'order', scope: 'orders:write' },
  { to: '/locations/new', text: 'location', scope: 'catalog:write' },
  { to: '/products/new', text: 'product', scope: 'catalog:write' },
  { to: '/categories/new', text: 'category', scope: 'catalog:write' },
  { to: '/api-keys/new', text: 'apiKey', scope: 'keys:manage' },
] as const satisfies readonly { to: string; text: keyof Texts['shell']['palette']['creations']; scope: Scope }[];

/**
 * What the palette offers: the pages and what can be created, and what was found. What begins with the text comes first.
 * @param text what is typed
 * @param searched the same, as soon as it has not changed for a moment
 */
export function useEntries(text: string, searched: string): { entries: readonly Entry[]; isSearching: boolean } {
  const { shell } = useTexts();
  const { scopes } = useSession().key;
  const { palette: texts } = shell;
  const isAsked = searched !== '';
  const search = useQuery({
    queryKey: ['palette', 'search', searched],
    queryFn: async ({ signal }) => {
      const asked = searches.filter(({ scope }) => scopes.includes(scope));
      const found = await Promise.allSettled(asked.map(({ find }) => find(searched, { signal })));
      return found.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
    },
    enabled: isAsked,
    staleTime: 30_000,
  });
  const named = useQueries({
    queries: lists
      .filter((list) => list.scopes.every((scope) => scopes.includes(scope)))
      .map(({ key, read }) => ({
        queryKey: ['palette', 'list', key],
        queryFn: ({ signal }: { signal: AbortSignal }) => read({ signal }),
        enabled: isAsked,
        staleTime: 60_000,
      })),
  });
  const wanted = text.toLowerCase();
  const has = (part: string | undefined): boolean => part !== undefined && part.toLowerCase().includes(wanted);
  const found = [
    ...(text === searched ? (search.data ?? []) : []),
    ...(isAsked
      ? named.flatMap(({ data = [] }) =>
          matching(data, ({ name, detail, id }) => has(name) || has(detail) || id === text),
        )
      : []),
  ].map(({ kind, page, name, detail, target }) => ({
    key: `${kind} ${name} ${JSON.stringify(target)}`,
    name,
    hint: [texts.kinds[kind], detail].filter((part) => part !== undefined).join(' · '),
    icon: navigation.find((entry) => entry.text === page)?.icon ?? IconPlus,
    target,
  }));
  const pages = entriesFor(scopes).map(({ to, text: name, icon }) => ({
    key: to,
    name: shell.entries[name],
    hint: texts.page,
    icon,
    target: { to },
  }));
  const actions = creations
    .filter(({ scope }) => scopes.includes(scope))
    .map(({ to, text: name }) => ({
      key: to,
      name: texts.creations[name],
      hint: texts.action,
      icon: IconPlus,
      target: { to },
    }));
  const reading = guides.map(({ title, place }) => ({
    key: place,
    name: title,
    hint: texts.guide,
    icon: IconBook2,
    target: new URL(`docs${place}`, serviceUrl).href,
  }));
  const fixed = [...pages, ...actions, ...(text === '' ? [] : reading)].filter(({ name }) => has(name));
  const unique = new Map([...found, ...fixed].map((entry): [string, Entry] => [entry.key, entry]));
  const isFirst = ({ name }: Entry): boolean => name.toLowerCase().startsWith(wanted);
  return {
    entries: [...unique.values()].toSorted((one, other) => Number(isFirst(other)) - Number(isFirst(one))),
    isSearching: text !== '' && (text !== searched || search.isFetching || named.some(({ isLoading }) => isLoading)),
  };
}

/** The first that match, of each kind. */
function matching(all: readonly Found[], isWanted: (one: Found) => boolean): Found[] {
  return [...Map.groupBy(all.filter(isWanted), ({ kind }) => kind).values()].flatMap((ofKind) => ofKind.slice(0, most));
}
