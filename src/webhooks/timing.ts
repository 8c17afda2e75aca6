const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** Every duration and bound of the delivery engine; in milliseconds unless the name says otherwise. */
export interface WebhookTiming {
  /** The pause before the first attempt and after each failure. There is one attempt for each entry. */
  readonly schedule: readonly number[];
  /** The largest part by which a pause is randomly shortened or lengthened. */
  readonly jitter: number;
  /** The longest pause that a receiver can ask for with `Retry-After`. */
  readonly longestRetryAfter: number;
  /** Time limit for opening a connection, including name look-up and TLS. */
  readonly connectTimeout: number;
  /** Time limit for a whole attempt. */
  readonly totalTimeout: number;
  /** How long a process keeps its partitions after a beat. */
  readonly lease: number;
  /** Between two beats. */
  readonly beat: number;
  /** Between two polls: of outboxes, of the layout of partitions, and of deliveries that other processes created. */
  readonly poll: number;
  /** Between two searches for all that waits in a partition. They find what was lost between two processes. */
  readonly search: number;
  /** How far ahead due times are remembered. Longer than `search`. */
  readonly horizon: number;
  readonly breaker: {
    /** Number of consecutive failures that open it. */
    readonly failures: number;
    readonly firstOpen: number;
    readonly longestOpen: number;
  };
  readonly failing: {
    /** Time with only failures after which others are told, if the breaker does not open before. */
    readonly tellAfter: number;
    /** Time with only failures before a warning. */
    readonly warnAfter: number;
    readonly disableAfter: number;
    /** The least time between warning and disabling. */
    readonly leastNotice: number;
  };
  /** How long a due delivery is held for an integration that is not active. */
  readonly hold: number;
  /** How long events and finished deliveries are kept. */
  readonly retention: number;
}

export const defaultTiming: WebhookTiming = {
  schedule: [0, 5 * second, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 14 * hour, 20 * hour, 24 * hour],
  jitter: 0.2,
  longestRetryAfter: day,
  connectTimeout: 5 * second,
  totalTimeout: 15 * second,
  lease: 6 * second,
  beat: 1.5 * second,
  poll: second,
  search: 5 * minute,
  horizon: 10 * minute,
  breaker: { failures: 5, firstOpen: 30 * second, longestOpen: 15 * minute },
  failing: { tellAfter: 5 * minute, warnAfter: 3 * day, disableAfter: 5 * day, leastNotice: day },
  hold: 30 * day,
  retention: 30 * day,
};

/** Limits of simultaneous work, for each process. */
export interface WebhookLimits {
  /** The most requests in progress to one receiver. */
  readonly perReceiver: number;
  /** The most requests in progress to all receivers that are younger than a second. */
  readonly inAll: number;
  /** The most requests in progress, with those to receivers that take longer. */
  readonly withSlow: number;
  /** Bytes of a response that are stored. */
  readonly responseKept: number;
  /** Bytes of a response that are read so that the connection can be used again. Above this it is closed. */
  readonly responseRead: number;
  /** The most bytes around the body: status line, headers, informational answers, framing of chunks, trailers. */
  readonly framingRead: number;
}

export const defaultLimits: WebhookLimits = {
  perReceiver: 64,
  inAll: 1_024,
  withSlow: 4_096,
  responseKept: 16 * 1_024,
  responseRead: 64 * 1_024,
  framingRead: 64 * 1_024,
};
