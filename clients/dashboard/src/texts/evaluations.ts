import type { InEachLanguage } from '../shared/texts.tsx';
import { evaluations as de } from './de/evaluations.ts';
import { evaluations as en } from './en/evaluations.ts';

/** What the screens of evaluations say. They load it themselves. */
export const evaluations: InEachLanguage<typeof en> = { en, de };
