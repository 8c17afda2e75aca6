import { describe, expect, it } from '@jest/globals';
import document from '../../../generated/openapi.json' with { type: 'json' };
import { effectiveScopes } from '../../../src/access/api-keys/scopes.ts';
import type { Scope } from '../../../generated/operations.ts';
import { setUp } from '../../support/per-operation.ts';

const setup = setUp();

describe('200', () => {
  it('lists each role with its scopes, also those that its scopes contain', async () => {
    const key = await setup.service.createKey('orders:read');
    const { body } = await setup.service.call('GET', '/api/v1/roles', { key });
    const roles = body.data as { name: string; scopes: Scope[] }[];
    expect(roles.map(({ name }) => name)).toEqual(['viewer', 'editor', 'releaser', 'operator', 'administrator']);
    for (const { scopes } of roles) expect(scopes.toSorted()).toEqual([...effectiveScopes(scopes)].sort());
    const [viewer = [], editor = [], releaser = [], operator = [], administrator] = roles.map(({ scopes }) => scopes);
    expect(editor).toEqual(expect.arrayContaining(viewer));
    expect(releaser.filter((scope) => !editor.includes(scope))).toEqual(['prompts:release']);
    expect(operator).toContain('budgets:write');
    expect(operator).not.toContain('people:manage');
    expect(administrator).toEqual(document.components.schemas.Scope.enum);
  });
});
