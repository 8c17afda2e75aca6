import { beforeEach, describe, expect, it } from '@jest/globals';
import { newDelivery, type DeliveryWithBody } from '../../src/webhooks/deliveries/delivery.ts';
import { Lane, maxUnsettled, readAtOnce, type Shared, type Turn } from '../../src/webhooks/lanes/lane.ts';
import { defaultTiming } from '../../src/webhooks/timing.ts';

const integrationId = 'a1b2c3d4-0000-4000-8000-000000000000';
const { breaker, search } = defaultTiming;
let now: number;
let isHeld: boolean;
let places: number;
let reserved: number;
let scheduled: { readonly at: number; readonly deliveryId: string | undefined }[];
let unstamped: { readonly ids: readonly string[]; readonly stamp: number }[];
let unstamping: PromiseWithResolvers<void>;
let shared: Shared & { ready: Set<Lane> };
let lane: Lane;

beforeEach(() => {
  [now, isHeld, places, reserved, scheduled, unstamped] = [1_000_000, true, 64, 0, [], []];
  unstamping = Promise.withResolvers();
  shared = {
    ready: new Set(),
    claimed: new Set(),
    quota: { take: () => (reserved += 1), giveBack: () => (reserved -= 1), share: () => places },
    clock: { now: () => new Date(now) },
    timing: defaultTiming,
    holds: () => isHeld,
    wake: (each) => void shared.ready.add(each),
    schedule: (_lane, at, deliveryId) => void scheduled.push({ at, deliveryId }),
    unstamp: (ids, stamp) => {
      unstamped.push({ ids, stamp });
      return unstamping.promise;
    },
  };
  lane = new Lane(integrationId, shared);
});

const wait = (...ids: readonly string[]): void => {
  for (const id of ids) lane.add({ id, isUrgent: false });
};
const begun = (): string | undefined => idOf(lane.turn());
const idOf = (turn: Turn): string | undefined => (turn.kind === 'begin' ? turn.item.id : undefined);
const row = (change: Partial<DeliveryWithBody> = {}): DeliveryWithBody => {
  const event = { eventType: 'ORDER_PLACED', targetId: 'order', eventCreatedAt: new Date(now) } as const;
  const made = newDelivery({ ...event, eventId: 'e', integrationId, body: Buffer.from('{}') }, new Date(now));
  return { ...made, ...change };
};
/** The receiver fails so often that its breaker opens. */
const openBreaker = (): void => {
  lane.receiver.load(undefined);
  const failure = { at: new Date(now), status: 503, error: undefined };
  for (let each = 0; each < breaker.failures; each += 1) {
    lane.receiver.failed(1, failure, undefined, { ...defaultTiming, jitter: 0 }, 0);
  }
};

describe('a delivery of a lane', () => {
  it('is begun once, in the order of arrival, and can come back when it is settled', () => {
    wait('a', 'b', 'a');
    expect([begun(), begun(), begun()]).toEqual(['a', 'b', undefined]);
    lane.answered('a');
    wait('a');
    expect(begun()).toBeUndefined();
    lane.settled('a', new Date(now + 5_000));
    expect(scheduled).toEqual([{ at: now + 5_000, deliveryId: 'a' }]);
    wait('a');
    expect(begun()).toBe('a');
  });

  it('has a place until its request is answered, and no longer', () => {
    places = 1;
    wait('a', 'b');
    expect([begun(), begun()]).toEqual(['a', undefined]);
    lane.answered('a');
    expect(begun()).toBe('b');
    expect(lane.isDrained).toBe(false);
    lane.settled('a');
    lane.settled('b');
    expect([lane.isDrained, lane.isIdle, shared.claimed.size]).toEqual([true, true, 0]);
  });

  it('is created with its attempt begun only if nothing is before it', () => {
    expect([lane.reserve('a'), lane.reserve('a')]).toEqual([true, false]);
    lane.lookFor('deliveries');
    expect(lane.reserve('b')).toBe(false);
  });

  it.each<[string, Partial<DeliveryWithBody>, boolean, readonly unknown[]]>([
    ['is attempted if it is due', {}, true, []],
    ['is left if it is settled', { status: 'delivered' }, false, []],
    ['waits for its time', { nextAttemptAt: new Date(9e12) }, false, [{ at: 9e12, deliveryId: 'a' }]],
  ])('%s, by what was read after its turn', (_name, change, isAdmitted, appointments) => {
    wait('a');
    lane.turn();
    expect(lane.admit({ id: 'a', isUrgent: false }, row(change))).toBe(isAdmitted);
    expect([scheduled, shared.claimed.has('a'), reserved]).toEqual([appointments, isAdmitted, isAdmitted ? 1 : 0]);
  });
});

describe('reading', () => {
  it('keeps what was found in memory, also if somebody asks to read again meanwhile', () => {
    lane.lookFor('deliveries');
    expect(lane.turn()).toEqual({ kind: 'read' });
    expect(lane.beginReading()).toBe('deliveries');
    lane.lookFor('deliveries');
    expect(lane.turn()).toEqual({ kind: 'none' });
    lane.found([row({ id: 'a' })]);
    lane.endReading(false);
    expect([begun(), lane.turn()]).toEqual(['a', { kind: 'read' }]);
  });

  it('is repeated if more is found than has room', () => {
    lane.lookFor('deliveries');
    lane.beginReading();
    lane.found(Array.from({ length: readAtOnce + 1 }, (_, index) => row({ id: String(index) })));
    lane.endReading(false);
    expect([lane.ids.size, lane.beginReading()]).toEqual([readAtOnce, 'deliveries']);
  });

  it('of replays is repeated if one was requested while they were read, or if it failed', () => {
    lane.lookFor('replays');
    expect(lane.beginReading()).toBe('replays');
    lane.lookFor('replays');
    lane.endReading(false);
    expect(lane.beginReading()).toBe('replays');
    lane.retryIn(250);
    lane.endReading(true);
    expect([lane.beginReading(), lane.beginReading()]).toEqual(['deliveries', 'replays']);
  });
});

describe('a delivery that is set aside', () => {
  const setAside = (...ids: readonly string[]): boolean[] => {
    wait(...ids);
    return ids.map((id) => {
      lane.turn();
      lane.answered(id);
      return lane.setAside(id);
    });
  };

  it('is not begun by a read or a search, until it comes back by itself', () => {
    expect(setAside('a')).toEqual([false]);
    expect([scheduled, lane.isIdle]).toEqual([[{ at: now + search, deliveryId: 'a' }], false]);
    wait('a', 'b');
    expect([begun(), begun(), [...lane.ids].sort()]).toEqual(['b', undefined, ['a', 'b']]);
    now += search;
    wait('a');
    expect(begun()).toBe('a');
  });

  it('comes back when an operator changes something', () => {
    setAside('a');
    lane.lookAgain();
    lane.beginReading();
    lane.found([row({ id: 'a' })]);
    expect(begun()).toBe('a');
  });

  it('takes the place of another, and the lane begins again when it comes back', () => {
    const ids = Array.from({ length: maxUnsettled }, (_, index) => String(index));
    expect(setAside(...ids).indexOf(true)).toBe(maxUnsettled - 1);
    wait('z');
    expect([begun(), lane.reserve('y')]).toEqual([undefined, false]);
    now += search;
    expect([begun(), lane.reserve('y'), lane.isIdle]).toEqual(['z', true, false]);
    lane.settled('z');
    expect(lane.isIdle).toBe(true);
  });
});

describe('a lane begins nothing', () => {
  it('while a decision about its receiver is written', async () => {
    const decision = Promise.withResolvers<undefined>();
    lane.decide(decision.promise);
    wait('a');
    expect(begun()).toBeUndefined();
    decision.resolve(undefined);
    await decision.promise;
    expect(begun()).toBe('a');
  });

  it('while the breaker is open, but for an urgent delivery; then it probes one at a time', () => {
    openBreaker();
    wait('a');
    expect([begun(), lane.ids.size]).toEqual([undefined, 0]);
    expect(scheduled).toEqual([{ at: now + breaker.firstOpen, deliveryId: undefined }]);
    lane.add({ id: 'now', isUrgent: true });
    expect(begun()).toBe('now');
    lane.answered('now');
    now += breaker.firstOpen;
    lane.lookFor('deliveries');
    lane.beginReading();
    lane.found([row({ id: 'a' }), row({ id: 'b' })]);
    lane.endReading(false);
    expect([begun(), begun()]).toEqual(['a', undefined]);
  });

  it('while its lease has lapsed', () => {
    wait('a');
    isHeld = false;
    expect(begun()).toBeUndefined();
    isHeld = true;
    expect(begun()).toBe('a');
  });

  it('after it was closed, and still settles what is in progress', async () => {
    lane.add({ id: 'a', isUrgent: false, delivery: row(), stamp: 7 });
    lane.add({ id: 'b', isUrgent: false, delivery: row(), stamp: 7 });
    expect(begun()).toBe('a');
    lane.close();
    expect([begun(), lane.hasWork, lane.isDrained]).toEqual([undefined, false, false]);
    expect(unstamped).toEqual([{ ids: ['b'], stamp: 7 }]);
    lane.answered('a');
    lane.settled('a');
    expect([lane.isDrained, [...shared.claimed]]).toEqual([false, ['b']]);
    unstamping.resolve();
    await unstamping.promise;
    expect([lane.isDrained, lane.hasWork, shared.claimed.size]).toEqual([true, false, 0]);
    wait('c');
    expect(begun()).toBeUndefined();
  });

  it('of what is given up with its stamp, before that is undone; then it looks for it', async () => {
    lane.add({ id: 'a', isUrgent: false, delivery: row(), stamp: 7 });
    lane.turn();
    lane.giveUp({ id: 'a', isUrgent: false }, 7);
    expect([unstamped, reserved]).toEqual([[{ ids: ['a'], stamp: 7 }], 0]);
    expect(lane.turn()).toEqual({ kind: 'read' });
    lane.beginReading();
    lane.found([row({ id: 'a' })]);
    lane.endReading(false);
    expect(lane.turn()).toEqual({ kind: 'none' });
    unstamping.resolve();
    await unstamping.promise;
    expect(lane.turn()).toEqual({ kind: 'read' });
    lane.beginReading();
    lane.found([row({ id: 'a' })]);
    expect(begun()).toBe('a');
  });

  it('for an inactive integration, until a nudge; but looks again by itself after an interruption', () => {
    wait('a', 'b');
    lane.turn();
    lane.hold({ id: 'a', isUrgent: false });
    expect([lane.hasWork, shared.claimed.size]).toEqual([false, 0]);
    lane.lookAgain();
    expect(lane.turn()).toEqual({ kind: 'read' });

    lane.beginReading();
    lane.found([row({ id: 'a' })]);
    lane.endReading(false);
    lane.turn();
    lane.interrupt(30_000);
    lane.hold({ id: 'a', isUrgent: false });
    expect(lane.hasWork).toBe(true);
  });
});
