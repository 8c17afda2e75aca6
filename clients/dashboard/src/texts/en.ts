import { apiKeys } from './en/api-keys.ts';
import { costs } from './en/costs.ts';
import { deliveries } from './en/deliveries.ts';
import { integrations } from './en/integrations.ts';
import { invocations } from './en/invocations.ts';
import { labels } from './en/labels.ts';
import { locations } from './en/locations.ts';
import { orders } from './en/orders.ts';
import { overview } from './en/overview.ts';
import { products } from './en/products.ts';
import { prompts } from './en/prompts.ts';
import { providers } from './en/providers.ts';
import { replays } from './en/replays.ts';
import { session } from './en/session.ts';
import { shared } from './en/shared.ts';
import { shell } from './en/shell.ts';
import { transfer } from './en/transfer.ts';

/** All texts in English. */
export const en = {
  shell,
  session,
  shared,
  overview,
  prompts,
  transfer,
  labels,
  invocations,
  costs,
  providers,
  orders,
  locations,
  products,
  integrations,
  replays,
  deliveries,
  apiKeys,
};

/** The texts of one language. A language is a file that exports an object of this type. */
export type Texts = typeof en;
