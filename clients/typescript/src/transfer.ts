import type { Convert } from './transfer/converted.ts';
import { convertHelicone } from './transfer/helicone.ts';
import { convertLangfuse } from './transfer/langfuse.ts';
import { convertMarkdown } from './transfer/markdown.ts';
import { convertPromptfoo } from './transfer/promptfoo.ts';
import { convertPromptLayer } from './transfer/promptlayer.ts';

export { inBatches, type SizedPrompt } from './transfer/batches.ts';
export { convertCases, isYaml, type CaseOptions, type ConvertedCases, type ParsedYaml } from './transfer/cases.ts';
export { FormatError } from './transfer/converted.ts';
export type { Convert, Converted, ConvertOptions, Note, PromptFile, Source } from './transfer/converted.ts';
export { decodeText } from './transfer/decode-text.ts';
export { yamlParser, type YamlPackage } from './transfer/parse-yaml.ts';

/** A tool whose prompts can be converted into the form of an import. */
export type ForeignFormat = 'langfuse' | 'helicone' | 'promptlayer' | 'promptfoo' | 'markdown';

/** The converters, by what they take. */
export const converters: Readonly<Record<ForeignFormat, Convert>> = {
  langfuse: convertLangfuse,
  helicone: convertHelicone,
  promptlayer: convertPromptLayer,
  promptfoo: convertPromptfoo,
  markdown: convertMarkdown,
};
