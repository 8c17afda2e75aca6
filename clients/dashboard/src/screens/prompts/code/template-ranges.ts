import { parseTemplate } from 'prompt-gateway-client/template';

/** A part of a template that is not plain text, as a range of UTF-16 code units. */
export type TemplateRange =
  | {
      readonly kind: 'placeholder';
      readonly from: number;
      readonly to: number;
      readonly name: string;
      readonly nameFrom: number;
      /** Where the inline default begins, after the bar; undefined without one. It ends before the closing braces. */
      readonly defaultFrom: number | undefined;
    }
  /** `\{{`, which writes two braces. */
  | { readonly kind: 'escape'; readonly from: number; readonly to: number }
  /** Two braces that begin no placeholder. */
  | { readonly kind: 'stray'; readonly from: number; readonly to: number };

/**
 * Finds the placeholders, escapes and stray braces of a template, in their order. The client's parser decides what they
 * are; it gives their contents and not their places, which follow from the contents.
 */
export function templateRanges(text: string): TemplateRange[] {
  const strays: number[] = [];
  const parts = parseTemplate(text, (at) => strays.push(at));
  const ranges: TemplateRange[] = strays.map((at) => ({ kind: 'stray', from: at, to: at + 2 }));
  let at = 0;
  for (const part of parts) {
    if (typeof part === 'string') {
      // The parser leaves out the backslash of an escape; the text after it begins with the braces.
      if (text[at] === '\\' && part.startsWith('{')) {
        ranges.push({ kind: 'escape', from: at, to: at + 3 });
        at += 1;
      }
      at += part.length;
    } else {
      const { name, inlineDefault } = part;
      const nameFrom = text.indexOf(name, at);
      const defaultFrom = inlineDefault === undefined ? undefined : text.indexOf('|', nameFrom) + 1;
      const to = text.indexOf('}}', defaultFrom ?? nameFrom) + 2;
      ranges.push({ kind: 'placeholder', from: at, to, name, nameFrom, defaultFrom });
      at = to;
    }
  }
  return ranges.sort((a, b) => a.from - b.from);
}
