import type { OriginalPiece } from '../language-model.ts';

/** An event of a stream, as the provider sent it. */
export class OriginalEvent {
  readonly name: string;
  /** JSON in the text of the provider. */
  readonly data: string;
  /** What it says. */
  readonly value: Readonly<Record<string, unknown>>;
  /** Set if it only adds to a text. */
  readonly added: OriginalPiece['added'];

  constructor(
    name: string,
    data: string,
    value: Readonly<Record<string, unknown>>,
    added: OriginalPiece['added'] | undefined,
  ) {
    this.name = name;
    this.data = data;
    this.value = value;
    this.added = added;
  }
}
