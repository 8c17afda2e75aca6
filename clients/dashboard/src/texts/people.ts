import type { InEachLanguage } from '../shared/texts.tsx';
import { people as de } from './de/people.ts';
import { people as en } from './en/people.ts';

/** What the screens of people say. They load it themselves. */
export const people: InEachLanguage<typeof en> = { en, de };
