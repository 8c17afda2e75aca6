import type { ReceiverSettings } from '../integrations/directory.ts';
import type { WebhookTiming } from '../timing.ts';
import { afterFailure, afterSuccess, isProbing, newHealth, type FailedAttempts, type LaneHealth } from './health.ts';
import type { LaneState } from './health-store.ts';

/** What this process knows about the receiver of a lane: its settings as they were read last, and its condition. */
export class Receiver {
  /** `readAt` is on the monotonic clock. */
  #known: { readonly settings: ReceiverSettings; readonly revision: number; readonly readAt: number } | undefined;
  #state: LaneState = { health: undefined, activity: { lastAttemptAt: undefined, lastSuccessAt: undefined } };
  #isLoaded = false;

  /** Whether the stored condition is known. */
  get isLoaded(): boolean {
    return this.#isLoaded;
  }

  /** The condition: another object after each change. */
  get state(): LaneState {
    return this.#state;
  }

  /** Whether it failed so often that it gets one request at a time. */
  get isOnProbation(): boolean {
    return this.#state.health !== undefined && isProbing(this.#state.health);
  }

  /** Takes over the condition that is stored, unless it is known already. */
  load(stored: LaneState | undefined): void {
    if (stored !== undefined && !this.#isLoaded) this.#state = stored;
    this.#isLoaded = true;
  }

  /** Another process may have changed the stored condition. */
  unload(): void {
    this.#isLoaded = false;
  }

  /** Takes over settings. @param open decrypts them, which is left out if the revision is known already */
  configure(revision: number, readAt: number, open: () => ReceiverSettings): ReceiverSettings {
    const settings = this.#known?.revision === revision ? this.#known.settings : open();
    this.#known = { settings, revision, readAt };
    return settings;
  }

  /** The settings, if they were read after a time on the monotonic clock. */
  settingsSince(time: number): ReceiverSettings | undefined {
    return this.#known !== undefined && this.#known.readAt > time ? this.#known.settings : undefined;
  }

  forgetSettings(): void {
    this.#known = undefined;
  }

  /** Failures under other settings are ignored. Older settings come from a batch that was read earlier. */
  healthUnder(settingsRevision: number): LaneHealth | undefined {
    let { health } = this.#state;
    if (health === undefined || health.settingsRevision < settingsRevision) {
      this.#change((health = newHealth(settingsRevision)));
    }
    return health.settingsRevision === settingsRevision ? health : undefined;
  }

  /** An attempt has succeeded. @returns the health before; undefined if that is about other settings */
  succeeded(settingsRevision: number, at: Date): LaneHealth | undefined {
    this.#state = { ...this.#state, activity: { lastAttemptAt: at, lastSuccessAt: at } };
    const before = this.healthUnder(settingsRevision);
    if (before !== undefined && (before.failuresInARow > 0 || before.open !== undefined))
      this.#change(afterSuccess(before));
    return before;
  }

  /** An attempt has failed. @returns undefined if the health is about other settings */
  failed(
    settingsRevision: number,
    failure: FailedAttempts,
    retryAfter: number | undefined,
    timing: Pick<WebhookTiming, 'breaker' | 'longestRetryAfter' | 'jitter'>,
    random: number,
  ): { readonly before: LaneHealth; readonly after: LaneHealth } | undefined {
    this.#state = { ...this.#state, activity: { ...this.#state.activity, lastAttemptAt: failure.at } };
    const before = this.healthUnder(settingsRevision);
    if (before === undefined) return undefined;
    const after = afterFailure(before, failure, retryAfter, timing, random);
    this.#change(after);
    return { before, after };
  }

  /** Its operator was warned. @returns false if it was warned before, or has not failed since */
  warned(settingsRevision: number, at: Date): boolean {
    const present = this.healthUnder(settingsRevision);
    if (present?.failingSince === undefined || present.warnedAt !== undefined) return false;
    this.#change({ ...present, warnedAt: at });
    return true;
  }

  /** Ends the pause of a receiver that fails, so that it gets a probe. */
  endPause(at: Date): void {
    const { health } = this.#state;
    if (health?.open !== undefined) this.#change({ ...health, open: { ...health.open, until: at } });
  }

  #change(health: LaneHealth): void {
    this.#state = { ...this.#state, health };
  }
}
