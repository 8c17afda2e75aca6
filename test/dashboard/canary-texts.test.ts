import { describe, expect, it } from '@jest/globals';
import {
  moveSentence,
  rateOf,
  requestsOf,
  canarySentence,
} from '../../clients/dashboard/src/screens/prompts/labels/canary-text.ts';
import { createFormat } from '../../clients/dashboard/src/shared/format.ts';
import { canaries as german } from '../../clients/dashboard/src/texts/de/canaries.ts';
import { canaries } from '../../clients/dashboard/src/texts/en/canaries.ts';

const format = createFormat('en');
const now = new Date(2026, 10, 6, 9, 0).getTime();
const later = (hours: number): string => new Date(now + hours * 3_600_000).toISOString();
const canary = {
  id: '2f6d1f0e-6f0a-4c57-9d3e-8b1a7c5e4d20',
  stable_version: 7,
  version: 8,
  share: 0.1,
  started_at: later(-2),
  ends_at: later(5),
  author: { type: 'key' as const, id: '1e4b7c90-2d6f-4f3a-8b5c-7a9d0e1f2c34', name: 'Release pipeline' },
  stable: { requests: 2187, failures: 20 },
  canary: { requests: 241, failures: 6 },
  evidence: 3.25,
  threshold: 100,
  at_end: 'ended' as const,
};
const promote = { min_requests: 1000 };
/** Without the narrow space before AM and PM. */
const say = (members: object, texts = canaries, language = format): string =>
  canarySentence({ ...canary, ...members }, 'production', now, texts, language).replaceAll('\u202F', ' ');

describe('a canary that runs', () => {
  it.each([
    [{}, 'At 2:00 PM (in 5 hours) it goes back to version 7, unless promoted.'],
    [
      { promote },
      'At 2:00 PM (in 5 hours) it goes back to version 7, unless version 8 has had 1,000 invocations by then or is promoted.',
    ],
    [
      { promote, at_end: 'promoted' },
      'At 2:00 PM (in 5 hours) production moves to version 8, unless that fails more often until then.',
    ],
    [{ ends_at: later(24) }, 'On Nov 7, 2026, 9:00 AM (tomorrow) it goes back to version 7, unless promoted.'],
    [{ ends_at: later(-0.01) }, 'Its hours are over: it ends within seconds.'],
    [{ evidence: 100 }, 'It fails more often: all run version 7 again within seconds.'],
  ])('%# says what happens next', (members, sentence) => {
    expect(say(members)).toBe(sentence);
  });

  it('says it in German', () => {
    const language = createFormat('de');
    const sentence = 'Um 14:00 (in 5 Stunden) geht es zurück auf Version 7, wenn sie nicht übernommen wird.';
    expect(say({}, german, language)).toBe(sentence);
  });
});

describe('a canary that has ended', () => {
  const ended = (reason: string): object => ({ ended: { at: later(-1), reason }, promote });
  it.each([
    [
      'failures',
      'It ended by itself at 8:00 AM, because version 8 failed more often. All invocations run version 7 again.',
    ],
    [
      'time',
      'Its hours were over at 8:00 AM. All invocations run version 7 again. It would have been promoted after 1,000 invocations.',
    ],
    ['promoted-at-end', 'Its hours were over at 8:00 AM, and the label moved to version 8.'],
    ['promoted', 'It was promoted at 8:00 AM: the label names version 8.'],
    ['stopped', 'Somebody ended it at 8:00 AM. All invocations run version 7 again.'],
    ['label-moved', 'It ended at 8:00 AM, because somebody moved the label.'],
    ['label-deleted', 'It ended at 8:00 AM, because somebody deleted the label.'],
    ['of-a-later-release', 'It ended at 8:00 AM.'],
  ])('because of %s says why', (reason, sentence) => {
    expect(say(ended(reason))).toBe(sentence);
  });
});

describe('the history of a label', () => {
  it('has the share at the start, and the counts at the end', () => {
    expect(moveSentence(canary, canaries, format)).toBe('Version 8 in 10%');
    const end = { ...canary, ended: { at: later(-1), reason: 'failures' as const } };
    expect(moveSentence(end, canaries, format)).toBe('Rolled back: version 8. 6 of 241 failed, beside 20 of 2,187');
  });
});

describe('the counts', () => {
  it('are exact up to 10,000, and a rate without invocations is none', () => {
    expect(requestsOf(canary.stable, canaries, format)).toBe('2,187');
    expect(rateOf(canary.canary, '–', canaries, format)).toBe('2.5%');
    const many = { requests: 10_000, requests_is_minimum: true, failures: 20 };
    expect(requestsOf(many, canaries, format)).toBe('10,000 or more');
    expect(rateOf(many, '–', canaries, format)).toBe('at most 0.2%');
    expect(rateOf({ requests: 0, failures: 0 }, '–', canaries, format)).toBe('–');
  });
});
