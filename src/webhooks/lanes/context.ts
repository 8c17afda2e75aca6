import type { Clock } from '../../base/runtime/clock.ts';
import type { Random } from '../../base/runtime/random.ts';
import type { DeliveryStore } from '../deliveries/delivery-store.ts';
import type { Settlements } from '../deliveries/settlements.ts';
import type { IntegrationDirectory } from '../integrations/directory.ts';
import type { WebhookLog, WebhookObserver } from '../observer.ts';
import type { LayoutStore } from '../partitions/layout-store.ts';
import type { Partitions } from '../partitions/partitions.ts';
import type { ReplayWorker } from '../replays/replays.ts';
import type { Quota } from '../sending/quota.ts';
import type { Sender } from '../sending/sender.ts';
import type { Tasks } from '../tasks.ts';
import type { WebhookLimits, WebhookTiming } from '../timing.ts';
import type { HealthStore } from './health-store.ts';
import type { Lanes } from './lanes.ts';
import type { Verdicts } from './verdicts.ts';

export interface EngineDependencies {
  readonly layout: LayoutStore;
  readonly health: HealthStore;
  readonly deliveries: DeliveryStore;
  readonly integrations: IntegrationDirectory;
  readonly settlements: Settlements;
  readonly sender: Sender;
  readonly replays: ReplayWorker;
  /** The version of this service. */
  readonly version: string;
  readonly timing: WebhookTiming;
  readonly limits: Pick<WebhookLimits, 'perReceiver' | 'inAll' | 'withSlow'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: WebhookLog;
  readonly observer: WebhookObserver;
}

/** What the stages of a delivery work with. */
export interface Context extends EngineDependencies {
  readonly partitions: Partitions;
  readonly lanes: Lanes;
  readonly verdicts: Verdicts;
  readonly quota: Quota;
  /** What must end before this process leaves. */
  readonly tasks: Tasks;
}
