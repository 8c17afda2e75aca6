import type { InEachLanguage } from '../shared/texts.tsx';
import { datasets as de } from './de/datasets.ts';
import { datasets as en } from './en/datasets.ts';

/** What the screens of data sets say. They load it themselves. */
export const datasets: InEachLanguage<typeof en> = { en, de };
