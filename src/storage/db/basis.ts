import type { Clock } from '../../base/runtime/clock.ts';
import type { Random } from '../../base/runtime/random.ts';
import type { PagedDatabase } from './pages.ts';

/** What `feature.ts` of each folder makes the stores and rules of the feature from. */
export interface Basis {
  readonly database: PagedDatabase;
  readonly clock: Clock;
  readonly random: Random;
}
