/** Characters that end a line, change the direction of text, or are invisible. */
const invisible = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** A text as a literal of one line that also cannot end a comment. */
export function quote(text: string): string {
  return escapeInvisible(JSON.stringify(text).replaceAll('*/', '*\\/'));
}

/** A text that can be printed: on one line, and in the order in which it is written. */
export function escapeInvisible(text: string): string {
  return text.replace(invisible, escapeUnits);
}

function escapeUnits(character: string): string {
  return Array.from({ length: character.length }, (_, at) => character.charCodeAt(at))
    .map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`)
    .join('');
}
