import {
  IconBuildingStore,
  IconCoin,
  IconHistory,
  IconHome,
  IconKey,
  IconListSearch,
  IconMessageCode,
  IconPlugConnected,
  IconReceipt,
  IconTag,
  IconTruckDelivery,
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
  icon: Icon;
  scope?: Scope;
}

/** All entries in their order. The start page leads to the first that the key may see. */
export const navigation: readonly NavigationEntry[] = [
  { to: '/overview', text: 'overview', icon: IconHome, scope: 'metrics:read' },
  { group: 'gateway', to: '/prompts', text: 'prompts', icon: IconMessageCode, scope: 'prompts:read' },
  {
    group: 'gateway',
    to: '/invocations',
    text: 'invocations',
    icon: IconListSearch,
    scope: 'invocations:read',
  },
  { group: 'gateway', to: '/costs', text: 'costs', icon: IconCoin, scope: 'invocations:read' },
  { group: 'gateway', to: '/providers', text: 'providers', icon: IconPlugConnected, scope: 'prompts:read' },
  { group: 'orders', to: '/orders', text: 'orders', icon: IconReceipt, scope: 'orders:read' },
  { group: 'orders', to: '/locations', text: 'locations', icon: IconBuildingStore, scope: 'catalog:read' },
  { group: 'orders', to: '/products', text: 'products', icon: IconTag, scope: 'catalog:read' },
  {
    group: 'webhooks',
    to: '/integrations',
    text: 'integrations',
    icon: IconWebhook,
    scope: 'integrations:read',
  },
  {
    group: 'webhooks',
    to: '/deliveries',
    text: 'deliveries',
    icon: IconTruckDelivery,
    scope: 'integrations:read',
  },
  { group: 'administration', to: '/api-keys', text: 'apiKeys', icon: IconKey, scope: 'keys:manage' },
  { group: 'administration', to: '/audit-log', text: 'auditLog', icon: IconHistory, scope: 'audit:read' },
];

/** The entry that a screen belongs to, by its path. Categories are a part of the catalog. */
export function entryOf(path: string): NavigationEntry | undefined {
  return navigation.find(({ to, text }) =>
    [to, ...(text === 'products' ? ['/categories'] : [])].some((own) => path === own || path.startsWith(`${own}/`)),
  );
}
