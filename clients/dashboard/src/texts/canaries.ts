import type { InEachLanguage } from '../shared/texts.tsx';
import { rollouts as de } from './de/canaries.ts';
import { rollouts as en } from './en/canaries.ts';

/** What is said of rollouts. The screens with labels load it themselves. */
export const rollouts: InEachLanguage<typeof en> = { en, de };
