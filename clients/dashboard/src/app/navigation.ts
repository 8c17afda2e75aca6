import { IconKey, IconMessageCode, IconTruckDelivery, IconWebhook, type Icon } from '@tabler/icons-react';
import type { LinkProps } from '@tanstack/react-router';
import type { Texts } from '../texts/en.ts';
import type { Scope } from './session.ts';

/** An entry of the navigation. It is shown to keys that have the scope. */
export interface NavigationEntry {
  group: keyof Texts['shell']['groups'];
  to: NonNullable<LinkProps['to']>;
  text: keyof Texts['shell']['entries'];
  icon: Icon;
  scope?: Scope;
}

/** All entries in their order. The start page leads to the first that the key may see. */
export const navigation: readonly NavigationEntry[] = [
  { group: 'gateway', to: '/prompts', text: 'prompts', icon: IconMessageCode, scope: 'prompts:read' },
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
];
