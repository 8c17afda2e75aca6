/** The settings of the guide "Sign in with your company's account", with tokens as its providers describe them. */
import { parseEnv } from 'node:util';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { loadConfig } from '../../../src/config/config.ts';
import { readBlocks, readGuide } from '../../support/documents.ts';
import { setUpPeople } from './people-harness.ts';

const setup = setUpPeople();

let first: Record<string, string>;
/** By the heading that they stand below, in order. */
let ofProviders: [name: string, settings: Record<string, string>][];
beforeAll(async () => {
  const sections = (await readGuide('63-sign-in-with-accounts.md')).split(/^##+ /m);
  const all = sections.flatMap((section) => {
    const [heading = ''] = section.split('\n');
    const blocks = readBlocks(section).filter(({ language }) => language === 'properties');
    return blocks.map(({ text }): [string, Record<string, string>] => [
      heading,
      parseEnv(text) as Record<string, string>,
    ]);
  });
  const [[, general] = ['', {}], ...others] = all;
  first = general;
  ofProviders = others;
});

/** Everything that a setting can be wrong about is found at the start. */
const accepted = (settings: Record<string, string>): void => {
  expect(loadConfig({ ...first, ...settings }).signIn.oidc).toMatchObject({ issuer: settings['OIDC_ISSUER'] });
};

/** What providers say of an editor, and of somebody without a role. */
const claims: readonly [provider: string, editor: object, refused: object][] = [
  ['Keycloak', { groups: ['/devs', '/staff'] }, { groups: ['/staff'] }],
  ['Keycloak', { realm_access: { roles: ['prompt-editor', 'offline_access'] } }, { realm_access: { roles: [] } }],
  [
    'Microsoft Entra ID',
    { groups: ['3b2b0c93-acd8-4208-8eba-7a48db1cd4c0'] },
    { _claim_names: { groups: 'src1' }, _claim_sources: { src1: { endpoint: 'https://graph.example' } } },
  ],
  ['Microsoft Entra ID', { roles: ['Prompt.Editor'], _claim_names: { groups: 'src1' } }, { groups: ['Prompt.Editor'] }],
  ['Okta', { groups: ['Everyone', 'devs'] }, { groups: ['Everyone'] }],
  ['Google', { hd: 'example.com' }, { email: 'someone@gmail.com' }],
];

describe('the settings of the guide', () => {
  it('are accepted', () => {
    accepted(first);
    expect(ofProviders.map(([name]) => name)).toEqual(claims.map(([name]) => name));
    for (const [, settings] of ofProviders) accepted(settings);
  });

  it.each(claims.map((row, index) => [index, ...row] as const))(
    'sign in whom they should (%i, %s)',
    async (index, _provider, editor, refused) => {
      const [, { OIDC_ISSUER: _, ...settings }] = ofProviders[index] ?? ['', {}];
      expect(await setup.signInWith(settings, editor)).toEqual(['editor']);
      expect(await setup.signInWith(settings, refused)).toBe(403);
    },
  );
});
