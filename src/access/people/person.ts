import type { components } from '../../../generated/types.ts';
import {
  changeable,
  fields,
  hidden,
  made,
  type Change,
  type Difference,
  type None,
  type Shown,
  type Thing,
} from '../../base/fields/fields.ts';
import { flag, integer, list, moment, same, text } from '../../base/fields/kinds.ts';
import type { Sealed } from '../../base/secrets/secret-box.ts';
import type { Role } from './roles.ts';

export const personFields = fields({
  /** It follows from issuer and subject. */
  id: made(text),
  issuer: made(text),
  subject: made(text),
  name: made(text),
  email: made(text, { optional: true }),
  roles: made(list(same<Role>())),
  disabled: changeable(flag),
  /** A session counts while it has the epoch of its person, so raising it ends all of them. */
  epoch: hidden(integer),
  firstSignInAt: made(moment),
  lastSignInAt: made(moment),
});

export interface Person extends Thing<typeof personFields.table> {
  readonly revision: number;
}

export type PersonChange = Change<typeof personFields.table>;

/** A session of a person. */
export interface PersonSession {
  readonly id: string;
  readonly personId: string;
  /** That of the person when it began. */
  readonly epoch: number;
  /** The session at the issuer (`sid`), if it has named one. */
  readonly sid: string | undefined;
  readonly idToken: Sealed | undefined;
  readonly startedAt: Date;
  readonly endsAt: Date;
}

/** What an issuer says of a person who signs in. */
export type Identity = Pick<Person, 'issuer' | 'subject' | 'name' | 'email' | 'roles'>;

/** @public For the compiler: it reports an error while a field is missing. */
export type UndeclaredInPerson = None<Difference<components['schemas']['Person'], Shown<typeof personFields.table>>>;
