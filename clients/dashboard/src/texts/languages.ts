import { en, type Texts } from './en.ts';

/** A language that the page can be shown in. */
export interface Language {
  /** Its own name for itself. */
  name: string;
  /** Loads its texts. English is part of the page; the others load theirs with `import()`. */
  load: () => Promise<Texts>;
}

/** The languages by their tag (BCP 47). The first is the default. */
export const languages: Readonly<Record<string, Language>> = {
  en: { name: 'English', load: () => Promise.resolve(en) },
  de: { name: 'Deutsch', load: async () => (await import('./de.ts')).de },
};
