import type { Reach } from './reach.ts';

/** Who calls. */
export interface Principal {
  /** A person who is signed in, or an API key. */
  readonly kind: 'person' | 'key';
  readonly id: string;
  readonly name: string;
  /** What it may reach; undefined without limits. */
  readonly reach?: Reach | undefined;
  /** Tags of everything that it invokes, which a request cannot replace. */
  readonly tags?: Readonly<Record<string, string>> | undefined;
  /** The person and the keys that led to it. */
  readonly makers?: readonly string[] | undefined;
  /**
   * What is divided between callers is divided between families: a person or a key, and all that it led to, have one
   * share, so that nobody gets more by creating keys.
   */
  readonly family: string;
}

/** Who made something, under the name at that time: as it is stored and shown. */
export interface AuthorRef {
  /** The system is the service itself, or what the operator has connected it to. */
  type: Principal['kind'] | 'system';
  id: string;
  name: string;
}

/** Who can make something. */
export interface Maker extends Pick<Principal, 'id' | 'name'> {
  readonly kind: AuthorRef['type'];
}

/** For what the service does without a request. */
export const theService: Maker = { kind: 'system', id: 'service', name: 'Service' };

export function authorOf({ kind, id, name }: Maker): AuthorRef {
  return { type: kind, id, name };
}
