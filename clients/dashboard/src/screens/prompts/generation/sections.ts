import { fallbacks } from './fallbacks.tsx';
import { format } from './format.tsx';
import { options } from './options.tsx';
import { parameters } from './parameters.tsx';
import type { AnySection, Generation, GenerationMistakes, GenerationWords } from './section.ts';
import { tools } from './tools.tsx';

/** How a prompt's answers are generated, in the order of the form. */
export const sections: Readonly<Record<string, AnySection>> = { parameters, format, tools, options, fallbacks };
const entries = Object.entries(sections);

/** How a prompt's answers are generated, while it is edited: a value for each section. */
export type GenerationDraft = Readonly<Record<string, unknown>>;

/** The values that clear all members. */
export const cleared: AnySection['cleared'] = Object.fromEntries(
  entries.flatMap(([, section]) => Object.entries(section.cleared)),
);

/** The draft that changes nothing of this content. */
export function generationDraftOf(content: Generation): GenerationDraft {
  return Object.fromEntries(entries.map(([name, section]) => [name, section.read(content)]));
}

/** The draft as the contract has it; without what is the default. */
export function generationOf(draft: GenerationDraft): Generation {
  return Object.fromEntries(entries.flatMap(([name, section]) => Object.entries(section.write(draft[name]))));
}

/** What the service would refuse, by section. */
export function generationMistakesOf(draft: GenerationDraft): Readonly<Record<string, GenerationMistakes>> {
  return Object.fromEntries(entries.map(([name, section]) => [name, section.mistakes(draft[name])]));
}

/** What is set in each section, in few words. */
export function generationSummary(draft: GenerationDraft, words: GenerationWords): Readonly<Record<string, string[]>> {
  return Object.fromEntries(
    entries.map(([name, section]) => [name, section.summary(draft[name], section.texts[words.language], words)]),
  );
}

/** What a draft says, for people: headings with lines. */
export function generationText(draft: GenerationDraft, words: GenerationWords): string {
  return entries
    .flatMap(([name, section]) => section.describe(draft[name], section.texts[words.language], words))
    .filter(([, lines]) => lines.length > 0)
    .map(([heading, lines]) => [`── ${heading} ──`, ...lines.filter((line) => line !== undefined)].join('\n'))
    .join('\n\n');
}
