import { createContext, use, useCallback, useEffect, useMemo, useState, type ReactNode } from 'react';
import { en, type Texts } from '../texts/en.ts';
import { languages } from '../texts/languages.ts';
import { createFormat, type Format } from './format.ts';

/** The chosen language with everything that depends on it. */
interface LanguageState {
  /** Its tag (BCP 47). */
  language: string;
  texts: Texts;
  format: Format;
  choose: (language: string) => void;
}

const storageKey = 'prompt-gateway-language';

const LanguageContext = createContext<LanguageState>({
  language: 'en',
  texts: en,
  format: createFormat('en'),
  choose: () => undefined,
});

/** Remembers the chosen language, loads its texts, and gives both to the page. English is shown until they are loaded. */
export function LanguageProvider({ children }: { children: ReactNode }): ReactNode {
  const [language, setLanguage] = useState(firstLanguage);
  const [loaded, setLoaded] = useState({ language: 'en', texts: en });

  useEffect(() => {
    let isCurrent = true;
    void languages[language]?.load().then((texts) => {
      if (isCurrent) setLoaded({ language, texts });
    });
    return () => {
      isCurrent = false;
    };
  }, [language]);

  useEffect(() => {
    document.documentElement.lang = loaded.language;
  }, [loaded.language]);

  const choose = useCallback((chosen: string) => {
    localStorage.setItem(storageKey, chosen);
    setLanguage(chosen);
  }, []);

  const value = useMemo(() => ({ ...loaded, format: createFormat(loaded.language), choose }), [loaded, choose]);
  return <LanguageContext value={value}>{children}</LanguageContext>;
}

/** All texts of the page in the chosen language. */
export function useTexts(): Texts {
  return use(LanguageContext).texts;
}

/** Numbers, dates and sizes in the chosen language. */
export function useFormat(): Format {
  return use(LanguageContext).format;
}

/** The chosen language, and how to choose another. */
export function useLanguage(): Pick<LanguageState, 'language' | 'choose'> {
  return use(LanguageContext);
}

/** The language chosen before, else the first of the browser's that the page has. */
function firstLanguage(): string {
  const wanted = [localStorage.getItem(storageKey) ?? '', ...navigator.languages];
  const tags = wanted.flatMap((tag) => [tag, tag.split('-')[0] ?? '']);
  return tags.find((tag) => tag in languages) ?? 'en';
}
