/** Something that is due at a time. */
export interface Appointment {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly integrationId: string;
  /** Undefined if the deliveries of the integration that are due then have to be searched for. */
  readonly deliveryId?: string | undefined;
}

/** Knows when deliveries are due, in the order of time, so that nothing has to be searched for. */
export interface Agenda {
  add(appointment: Appointment): void;
  /** Removes and returns what is due. */
  takeDue(now: number): Appointment[];
  /** When the first one is due. */
  next(): number | undefined;
  readonly size: number;
}

export function createAgenda(): Agenda {
  /** The latest first: what is due soon is added and removed at the end. */
  const appointments: Appointment[] = [];
  /** How many are later than a time. */
  const countAfter = (time: number): number => {
    let [from, to] = [0, appointments.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if ((appointments[middle]?.at ?? 0) > time) from = middle + 1;
      else to = middle;
    }
    return from;
  };
  return {
    add(appointment) {
      appointments.splice(countAfter(appointment.at), 0, appointment);
    },
    takeDue: (now) => appointments.splice(countAfter(now)).reverse(),
    next: () => appointments.at(-1)?.at,
    get size() {
      return appointments.length;
    },
  };
}
