/** Maximum number of names in a message: a template can have many thousands of variables. */
const maxNamesInMessage = 20;

/** A rendering needs variables that have no value. */
export class MissingVariablesError extends Error {
  /** Each name once: first those of placeholders, in order of appearance, then required ones that no placeholder uses. */
  readonly names: readonly string[];
  /** Unknown variables that were supplied; they may be misspelt names of the missing ones. */
  readonly unknown: readonly string[];

  constructor(names: readonly string[], unknown: readonly string[]) {
    const shown = names.slice(0, maxNamesInMessage).join(', ');
    const others = names.length - maxNamesInMessage;
    super(`No value for: ${shown}${others > 0 ? ` and ${others} more` : ''}.`);
    this.name = 'MissingVariablesError';
    this.names = names;
    this.unknown = unknown;
  }
}

/** The rendered texts would be longer than allowed. Lengths are in UTF-16 code units. */
export class RenderedPromptTooLargeError extends Error {
  readonly length: number;
  readonly maxLength: number;

  constructor(length: number, maxLength: number) {
    super(`The rendered prompt would have ${length} characters; at most ${maxLength} are allowed.`);
    this.name = 'RenderedPromptTooLargeError';
    this.length = length;
    this.maxLength = maxLength;
  }
}
