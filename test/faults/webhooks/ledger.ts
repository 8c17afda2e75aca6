import { createHmac } from 'node:crypto';
import { startReceiver, type ReceivedRequest, type Reaction, type Receiver } from '../../support/receiver.ts';

/** One event as a receiver saw it. */
export interface SeenEvent {
  readonly id: string;
  readonly type: string;
  readonly targetUuid: string | undefined;
  readonly body: string;
  /** The time of its first arrival, in milliseconds since the epoch. */
  readonly firstAt: number;
  arrivals: number;
  /** The number of 2xx answers. */
  accepted: number;
  /** Whether an arrival had another body than the first one. */
  changed: boolean;
}

/** The time of an event from its creation to its first arrival, by the clocks of this machine. */
export interface Delay {
  /** The time of its creation, in milliseconds since the epoch. */
  readonly createdAt: number;
  readonly milliseconds: number;
}

/** A receiver that records its requests and its answers. */
export interface Ledger {
  readonly url: string;
  readonly integrationId: string;
  readonly secret: string;
  /** By event id. */
  readonly events: ReadonlyMap<string, SeenEvent>;
  /** Requests with a signature that does not match their bytes. */
  readonly badSignatures: number;
  readonly arrivals: number;
  /** First arrivals. */
  readonly delays: readonly Delay[];
  close(): Promise<void>;
}

export interface LedgerSettings {
  readonly integrationId: string;
  readonly secret: string;
  /** The reaction to a request; by default a 200. */
  readonly react?: (request: ReceivedRequest) => Reaction;
}

const accept: Reaction = { kind: 'answer', status: 200 };

export async function openLedger({ integrationId, secret, react = () => accept }: LedgerSettings): Promise<Ledger> {
  const receiver: Receiver = await startReceiver();
  const events = new Map<string, SeenEvent>();
  const delays: Delay[] = [];
  let badSignatures = 0;
  let arrivals = 0;

  receiver.always((request) => {
    arrivals += 1;
    if (!isSigned(request, secret)) badSignatures += 1;
    const reaction = react(request);
    const id = request.headers['webhook-id'] ?? '';
    const body = request.body.toString('utf8');
    const payload = JSON.parse(body) as { type: string; targetUuid?: string | null; createdAt: string };
    let event = events.get(id);
    if (event === undefined) {
      const targetUuid = payload.targetUuid ?? undefined;
      event = {
        id,
        type: payload.type,
        targetUuid,
        body,
        firstAt: request.at,
        arrivals: 0,
        accepted: 0,
        changed: false,
      };
      events.set(id, event);
      const createdAt = Date.parse(payload.createdAt);
      delays.push({ createdAt, milliseconds: request.at - createdAt });
    }
    event.arrivals += 1;
    event.changed ||= event.body !== body;
    if (reaction.kind === 'answer' && (reaction.status ?? 200) < 300) event.accepted += 1;
    return reaction;
  });

  return {
    url: receiver.url,
    integrationId,
    secret,
    events,
    delays,
    get badSignatures() {
      return badSignatures;
    },
    get arrivals() {
      return arrivals;
    },
    close: () => receiver.close(),
  };
}

/** Checks both signatures with its own code: `X-Service-Signature`, and that of Standard Webhooks. */
function isSigned({ headers, body }: Pick<ReceivedRequest, 'headers' | 'body'>, secret: string): boolean {
  const hmac = (): ReturnType<typeof createHmac> => createHmac('sha256', secret);
  const prefix = `${headers['webhook-id'] ?? ''}.${headers['webhook-timestamp'] ?? ''}.`;
  return (
    headers['x-service-signature'] === hmac().update(body).digest('hex') &&
    headers['webhook-signature'] === `v1,${hmac().update(prefix).update(body).digest('base64')}`
  );
}
