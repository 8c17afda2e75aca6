import type { InEachLanguage } from '../shared/texts.tsx';
import { canaries as de } from './de/canaries.ts';
import { canaries as en } from './en/canaries.ts';

/** What is said of canaries. The screens with labels load it themselves. */
export const canaries: InEachLanguage<typeof en> = { en, de };
