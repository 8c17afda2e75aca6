import type { InEachLanguage } from '../shared/texts.tsx';
import { gates as de } from './de/gates.ts';
import { gates as en } from './en/gates.ts';

/** What is said of gates. The screens with labels load it themselves. */
export const gates: InEachLanguage<typeof en> = { en, de };
