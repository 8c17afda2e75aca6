import type { GeneratedRequest } from './request-arbitraries.ts';

/** Resources that are created while generated requests are sent, by the names of the schemas of their ids. */
const kinds = [
  ...(['LocationId', 'CategoryId', 'ProductId', 'OrderId'] as const),
  ...(['IntegrationId', 'SecretRotationId', 'DeliveryId', 'ReplayId'] as const),
];
export type Kind = (typeof kinds)[number];

/**
 * Ids for requests that are generated before their resources exist. A stand-in has the form of an id. When its request
 * is sent, it is replaced by the id of one of the newest resources of its kind.
 */
export interface StandIns {
  /** The stand-ins of a kind, the one for the newest resource first. */
  of(kind: Kind): readonly string[];
  add(kind: Kind, id: string): void;
  remove(kind: Kind, id: string): void;
  /** The request as it is sent now. A stand-in without a resource stays, as an unknown id. */
  replaceIn(request: GeneratedRequest): GeneratedRequest;
}

/** The number of the newest resources of a kind that have stand-ins. */
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
