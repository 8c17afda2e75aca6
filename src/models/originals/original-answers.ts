/** How answers pass through the AI SDK's types in the text of their provider, whichever API it has. */
import type { LanguageModelV4GenerateResult, SharedV4ProviderMetadata } from '@ai-sdk/provider';
import type { OriginalPiece } from '../language-model.ts';

/** The name of the metadata with the text of a whole answer. */
const originalName = 'original';

/** The metadata of a whole answer that goes back as it came. @param text the body of the answer */
export function originalMetadata(text: string): SharedV4ProviderMetadata {
  return { [originalName]: { text } };
}

/** The text of a whole answer, if it goes back as it came. */
export function originalOf({
  providerMetadata,
}: Pick<LanguageModelV4GenerateResult, 'providerMetadata'>): string | undefined {
  const text = providerMetadata?.[originalName]?.['text'];
  return typeof text === 'string' ? text : undefined;
}

/** What an event of a stream has, as the provider sent it. */
interface OriginalEventFields {
  readonly name: string;
  /** JSON in the text of the provider. */
  readonly data: string;
  /** The same, parsed. */
  readonly value: Readonly<Record<string, unknown>>;
  /** Set if the event does nothing but add a text. */
  readonly added: OriginalPiece['added'];
  /** Whether an answer can begin with it: the head of a stream, for example, comes before any content. */
  readonly isContent: boolean;
}

/** A class, so that it is told from other raw parts of the AI SDK's streams. */
export class OriginalEvent {
  readonly fields: OriginalEventFields;

  constructor(fields: OriginalEventFields) {
    this.fields = fields;
  }
}
