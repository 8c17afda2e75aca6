import type { Clock } from '../../base/runtime/clock.ts';
import type { WebhookTiming } from '../timing.ts';

/** Something that is due at a time. */
export interface Appointment {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly integrationId: string;
  /** Undefined if the deliveries of the integration that are due then have to be searched for. */
  readonly deliveryId?: string | undefined;
}

/** The most due times that are remembered. Other deliveries are searched for when they are due. */
const maxAppointments = 200_000;

/** Knows when deliveries are due, in the order of time, so that nothing has to be searched for. */
export class Agenda {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #timing: Pick<WebhookTiming, 'horizon' | 'poll'>;
  /** The latest first: what is due soon is added and removed at the end. */
  readonly #appointments: Appointment[] = [];
  #keep: ((appointment: Appointment) => void) | undefined;
  #alarm: NodeJS.Timeout | undefined;

  constructor(clock: Pick<Clock, 'now'>, timing: Pick<WebhookTiming, 'horizon' | 'poll'>) {
    this.#clock = clock;
    this.#timing = timing;
  }

  /** Those of a single delivery are only remembered up to the horizon, and up to a number. */
  add(appointment: Appointment): void {
    const { at, deliveryId } = appointment;
    const isFar = at - this.#clock.now().getTime() > this.#timing.horizon;
    if (deliveryId !== undefined && (isFar || this.size >= maxAppointments)) return;
    this.#appointments.splice(this.#countAfter(at), 0, appointment);
    this.#setAlarm();
  }

  /** @param keep called with what is due */
  start(keep: (appointment: Appointment) => void): void {
    this.#keep = keep;
    this.#setAlarm();
  }

  stop(): void {
    this.#keep = undefined;
    clearTimeout(this.#alarm);
  }

  /** When the first one is due. */
  next(): number | undefined {
    return this.#appointments.at(-1)?.at;
  }

  get size(): number {
    return this.#appointments.length;
  }

  /** Removes and returns what is due. */
  takeDue(now: number): Appointment[] {
    return this.#appointments.splice(this.#countAfter(now)).reverse();
  }

  /** At least once a poll, because the wall clock may be set. */
  #setAlarm(): void {
    clearTimeout(this.#alarm);
    const next = this.next();
    if (next === undefined || this.#keep === undefined) return;
    const wait = Math.max(next - this.#clock.now().getTime(), 0);
    this.#alarm = setTimeout(
      () => {
        for (const due of this.takeDue(this.#clock.now().getTime())) this.#keep?.(due);
        this.#setAlarm();
      },
      Math.min(wait, this.#timing.poll),
    );
  }

  /** How many are later than a time. */
  #countAfter(time: number): number {
    let [from, to] = [0, this.size];
    while (from < to) {
      const middle = (from + to) >> 1;
      if ((this.#appointments[middle]?.at ?? 0) > time) from = middle + 1;
      else to = middle;
    }
    return from;
  }
}
