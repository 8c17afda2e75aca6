/** What the guides say that a call can cost at most, against the numbers that count. */
import { expect, it } from '@jest/globals';
import {
  likelyOutputTokens,
  ofCall,
  ofImage,
  ofMessage,
  ofSchemas,
  ofTools,
} from '../../src/models/call/token-ceiling.ts';
import { vendors } from '../../src/models/vendors/index.ts';
import { readGuide } from '../support/documents.ts';

const number = new Intl.NumberFormat('en');
const shown = (tokens: number): string => number.format(tokens);
const otherwise = vendors.flatMap(({ name, dialect: { imageTokens } }) =>
  imageTokens === undefined ? [] : [`${shown(imageTokens)} with ${name}`],
);
const times = ['none', 'one', 'two', 'three'][ofSchemas];

it('is in the guide "Budgets"', async () => {
  const rows = new Map(
    (await readGuide('921-budgets.md'))
      .split('\n')
      .filter((line) => line.startsWith('| '))
      .map((line) => line.split('|').map((cell) => cell.trim()))
      .map(([, part = '', tokens = '']) => [part.split(/[ ,]/).slice(0, 2).join(' '), tokens]),
  );
  expect(Object.fromEntries(rows)).toMatchObject({
    'Text of': 'one for each byte',
    'Each message': `${shown(ofMessage)} more`,
    'Each image': [shown(ofImage), ...otherwise].join('; '),
    'Tools ': `${times} for each byte of their JSON, and ${shown(ofTools)} if there are any`,
    'The call': `${shown(ofCall)} more`,
  });
});

it('is in the guide "Costs"', async () => {
  const guide = await readGuide('92-costs.md');
  expect(guide).toContain(
    `a token for each byte of text, ${shown(ofMessage)} for each message, ${shown(ofImage)} for each image (${otherwise.join(', ')}), twice the bytes of tools, schemas and options and ${shown(ofTools)} if there are any, and ${shown(ofCall)} for the call.`,
  );
  expect([ofSchemas, likelyOutputTokens(4)]).toEqual([2, 1]);
  expect(guide).toContain('a token for four bytes');
});
