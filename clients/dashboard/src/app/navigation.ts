import {
  IconBuildingStore,
  IconCoin,
  IconDatabase,
  IconHistory,
  IconHome,
  IconKey,
  IconListSearch,
  IconMessageCode,
  IconPlugConnected,
  IconReceipt,
  IconTag,
  IconTruckDelivery,
  IconUsers,
  IconWebhook,
  type Icon,
} from '@tabler/icons-react';
import type { LinkProps } from '@tanstack/react-router';
import type { Texts } from '../texts/en.ts';
import type { Scope } from './session.ts';

/** An entry of the navigation. It is shown to keys that have the scope. Those without a group stand above all groups. */
export interface NavigationEntry {
  group?: keyof Texts['shell']['groups'];
  to: NonNullable<LinkProps['to']>;
  text: keyof Texts['shell']['entries'];
  /** After `g`, this key leads there. */
  key: string;
  icon: Icon;
  scope?: Scope;
}

/** All entries in their order. The start page leads to the first that the key may see. */
export const navigation: readonly NavigationEntry[] = [
  { to: '/overview', text: 'overview', key: 'o', icon: IconHome, scope: 'metrics:read' },
  { group: 'gateway', to: '/prompts', text: 'prompts', key: 'p', icon: IconMessageCode, scope: 'prompts:read' },
  { group: 'gateway', to: '/datasets', text: 'datasets', key: 's', icon: IconDatabase, scope: 'datasets:read' },
  {
    group: 'gateway',
    to: '/invocations',
    text: 'invocations',
    key: 'i',
    icon: IconListSearch,
    scope: 'invocations:read',
  },
  { group: 'gateway', to: '/costs', text: 'costs', key: 'c', icon: IconCoin, scope: 'invocations:read' },
  { group: 'gateway', to: '/providers', text: 'providers', key: 'v', icon: IconPlugConnected, scope: 'prompts:read' },
  { group: 'orders', to: '/orders', text: 'orders', key: 'r', icon: IconReceipt, scope: 'orders:read' },
  { group: 'orders', to: '/locations', text: 'locations', key: 'l', icon: IconBuildingStore, scope: 'catalog:read' },
  { group: 'orders', to: '/products', text: 'products', key: 't', icon: IconTag, scope: 'catalog:read' },
  {
    group: 'webhooks',
    to: '/integrations',
    text: 'integrations',
    key: 'w',
    icon: IconWebhook,
    scope: 'integrations:read',
  },
  {
    group: 'webhooks',
    to: '/deliveries',
    text: 'deliveries',
    key: 'd',
    icon: IconTruckDelivery,
    scope: 'integrations:read',
  },
  { group: 'administration', to: '/api-keys', text: 'apiKeys', key: 'k', icon: IconKey, scope: 'keys:manage' },
  { group: 'administration', to: '/people', text: 'people', key: 'u', icon: IconUsers, scope: 'people:manage' },
  { group: 'administration', to: '/audit-log', text: 'auditLog', key: 'a', icon: IconHistory, scope: 'audit:read' },
];

/** The entries that a key with these scopes may see. */
export function entriesFor(scopes: readonly string[]): NavigationEntry[] {
  return navigation.filter(({ scope }) => scope === undefined || scopes.includes(scope));
}

/** The entry that a screen belongs to, by its path. Categories are a part of the catalog. */
export function entryOf(path: string): NavigationEntry | undefined {
  return navigation.find(({ to, text }) =>
    [to, ...(text === 'products' ? ['/categories'] : [])].some((own) => path === own || path.startsWith(`${own}/`)),
  );
}
