import { apiKeys } from './de/api-keys.ts';
import { costs } from './de/costs.ts';
import { deliveries } from './de/deliveries.ts';
import { integrations } from './de/integrations.ts';
import { invocations } from './de/invocations.ts';
import { labels } from './de/labels.ts';
import { locations } from './de/locations.ts';
import { orders } from './de/orders.ts';
import { overview } from './de/overview.ts';
import { products } from './de/products.ts';
import { prompts } from './de/prompts.ts';
import { providers } from './de/providers.ts';
import { replays } from './de/replays.ts';
import { session } from './de/session.ts';
import { shared } from './de/shared.ts';
import { shell } from './de/shell.ts';
import { transfer } from './de/transfer.ts';
import type { Texts } from './en.ts';

/** All texts in German. */
export const de: Texts = {
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
