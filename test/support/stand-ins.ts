import type { GeneratedRequest } from './request-arbitraries.ts';

/** Things that are made while generated requests are sent, by the names of the contract's schemas for their ids. */
const kinds = [
  ...(['LocationId', 'CategoryId', 'ProductId', 'OrderId'] as const),
  ...(['IntegrationId', 'SecretRotationId', 'DeliveryId', 'ReplayId'] as const),
];
export type Kind = (typeof kinds)[number];

/**
 * Ids for requests that are generated before the things exist that they are to name. A stand-in has the form of an id;
 * when its request is sent, the id of one of the newest things of its kind takes its place.
 */
export interface StandIns {
  /** The stand-ins for a kind, that for the newest one first. */
  of(kind: Kind): readonly string[];
  add(kind: Kind, id: string): void;
  remove(kind: Kind, id: string): void;
  /** The request as it is to be sent now. A stand-in for what there is not stays, as the id of nothing. */
  replaceIn(request: GeneratedRequest): GeneratedRequest;
}

/** How many of the newest things of a kind have stand-ins. */
const perKind = 4;

export function createStandIns(): StandIns {
  /** The ids of each kind, the newest first. */
  const made = new Map<Kind, string[]>(kinds.map((kind) => [kind, []]));
  const places = new Map(
    kinds.flatMap((kind, row) =>
      Array.from({ length: perKind }, (_, index) => [standIn(kind, row * perKind + index), { kind, index }] as const),
    ),
  );
  const anyStandIn = new RegExp([...places.keys()].join('|'), 'g');
  const replace = (text: string): string =>
    text.replaceAll(anyStandIn, (found) => {
      const place = places.get(found);
      return place === undefined ? found : (made.get(place.kind)?.[place.index] ?? found);
    });

  return {
    of: (kind) => [...places].filter(([, place]) => place.kind === kind).map(([text]) => text),
    add(kind, id) {
      const ids = made.get(kind);
      if (ids?.includes(id) === false) ids.unshift(id);
    },
    remove(kind, id) {
      made.set(kind, made.get(kind)?.filter((other) => other !== id) ?? []);
    },
    replaceIn(request) {
      const headers = Object.entries(request.headers).map(([name, value]) => [name, replace(value)]);
      return {
        ...request,
        url: replace(request.url),
        headers: Object.fromEntries(headers) as Record<string, string>,
        body: request.body === undefined ? undefined : replace(request.body),
      };
    },
  };
}

function standIn(kind: Kind, number: number): string {
  const id = `57a4d145-0000-4000-8000-${String(number).padStart(12, '0')}`;
  return kind === 'CategoryId' ? `cat_${id.replaceAll('-', '')}` : id;
}
