import type { Scope } from '../../../generated/operations.ts';
import type { components } from '../../../generated/types.ts';
import { ifMatchRevision, revisionTag } from '../../http/conditional.ts';
import { requireUnchanged } from '../../base/editing/read-only-fields.ts';
import { answerPage } from '../../http/list-answer.ts';
import type { OperationHandlers } from '../../http/operation.ts';
import type { People } from './people.ts';
import { personFields, type Person } from './person.ts';
import { roleNames, type Roles } from './roles.ts';

type Operations = Pick<OperationHandlers, 'listRoles' | 'listPeople' | 'getPerson' | 'updatePerson' | 'signOutPerson'>;

/** @param allScopes in the order of the contract */
export function peopleOperations(people: People, roles: Roles, allScopes: readonly Scope[]): Operations {
  const data: components['schemas']['RoleScopes'][] = roleNames.map((name) => {
    const held = roles.scopesOf([name]);
    return { name, scopes: allScopes.filter((scope) => held.has(scope)) };
  });
  /** The time of the last sign-in is written with each, so that it is part of the revision. */
  const answer = (
    person: Person,
  ): { status: 200; headers: { ETag: string }; body: components['schemas']['Person'] } => ({
    status: 200,
    headers: { ETag: revisionTag(person) },
    body: personFields.show(person),
  });
  return {
    listRoles: () => Promise.resolve({ status: 200, body: { data } }),
    listPeople: (input) => answerPage(input, () => people.list(), personFields.show),
    getPerson: async ({ path: { id } }) => answer(await people.get(id)),
    async updatePerson({ path: { id }, headers, body, context }) {
      const { last_sign_in_at: _, ...fixed } = personFields.others(body) as Partial<components['schemas']['Person']>;
      const precondition = (present: Person): boolean =>
        ifMatchRevision(headers['If-Match'], present) && requireUnchanged(fixed, personFields.show(present));
      return answer(await people.change(id, personFields.readChange(body), precondition, context));
    },
    async signOutPerson({ path: { id }, context }) {
      const { status, body } = answer(await people.signOut(id, context));
      return { status, body };
    },
  };
}
