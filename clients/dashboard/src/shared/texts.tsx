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

const english = { language: 'en', texts: en };
const storageKey = 'prompt-gateway-language';

const LanguageContext = createContext<LanguageState>({
  language: 'en',
  texts: en,
  format: createFormat('en'),
  choose: () => undefined,
});

/**
 * Remembers the chosen language, loads its texts, and gives both to the page. The page appears when they are loaded; if
 * they cannot be loaded, it is in English, or stays as it is.
 */
export function LanguageProvider({ children }: { children: ReactNode }): ReactNode {
  const [language, setLanguage] = useState(firstLanguage);
  const [loaded, setLoaded] = useState(language === 'en' ? english : undefined);

  useEffect(() => {
    let isCurrent = true;
    const loading = languages[language]?.load().then((texts) => ({ language, texts }));
    void loading
      ?.catch(() => undefined)
      .then((state) => {
        if (isCurrent) setLoaded((before) => state ?? before ?? english);
      });
    return () => {
      isCurrent = false;
    };
  }, [language]);

  useEffect(() => {
    if (loaded !== undefined) document.documentElement.lang = loaded.language;
  }, [loaded]);

  const choose = useCallback((chosen: string) => {
    localStorage.setItem(storageKey, chosen);
    setLanguage(chosen);
  }, []);

  const value = useMemo(() => loaded && { ...loaded, format: createFormat(loaded.language), choose }, [loaded, choose]);
  return value && <LanguageContext value={value}>{children}</LanguageContext>;
}

/** All texts of the page in the chosen language. */
export function useTexts(): Texts {
  return use(LanguageContext).texts;
}

/** Texts in each language of the page. */
export type InEachLanguage<Own> = Readonly<Record<string, Own>> & { readonly en: Own };

/** Texts that are not among those of the whole page, so that they are loaded with the screens that show them. */
export function useOwnTexts<Own>(own: InEachLanguage<Own>): Own {
  return own[use(LanguageContext).language] ?? own.en;
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
  return tags.find((tag) => Object.hasOwn(languages, tag)) ?? 'en';
}
