import { scrub } from '../../base/runtime/scrub.ts';
import type { GenerateRequest, Message } from '../language-model.ts';

/** Makes a provider's text fit for callers and the log. @returns undefined if nothing is left */
export type Conceal = (text: string) => string | undefined;

/** The most characters of a text that are looked at. */
const longestText = 7_000;
/** The most bytes of a text in UTF-8 that are shown. */
const mostBytes = 1_024;

/**
 * Providers answer what they like: they send back headers with keys, prompts, control characters, and megabytes. What
 * remains of a text is one line of at most 1 KiB, without invisible characters. Masked are configured secrets, what
 * looks like a key, and parts of the request's messages, because prompts are in no log.
 *
 * @param secrets of all providers
 */
export function createConceal(secrets: readonly string[], request: Pick<GenerateRequest, 'messages'>): Conceal {
  let texts: readonly string[] | undefined;
  return (text) => {
    let line = toLine(text);
    for (const secret of secrets) line = line.replaceAll(secret, '[redacted]');
    line = maskQuotes(maskKeys(line), (texts ??= textsOf(request))).trim();
    return line === '' ? undefined : cut(line);
  };
}

/** The shortest secret that is searched for. A shorter one is a word such as `none` that is in many texts. */
const shortestSecret = 8;

/** The spellings of secrets that a provider may send back: whole, by their words (`Bearer …`), encoded. Longest first. */
export function spellingsOf(secrets: readonly string[]): string[] {
  const words = secrets
    .flatMap((secret) => [secret, ...secret.split(/\s+/)])
    .filter((word) => word.length >= shortestSecret);
  const spellings = words.flatMap((word) => [
    ...[word, encodeURIComponent(word), JSON.stringify(word).slice(1, -1)],
    Buffer.from(word).toString('base64').replace(/=+$/, ''),
  ]);
  return [...new Set(spellings)].sort((one, other) => other.length - one.length);
}

function toLine(text: string): string {
  const start = text.slice(0, longestText);
  // The last word could be the begin of a secret.
  return flatten(start.length < text.length ? start.replace(/\S+$/, '') : start);
}

/** One line without control characters, formatting characters (also those that turn text around), and lone surrogates. */
function flatten(text: string): string {
  return (
    text
      .toWellFormed()
      // Colors of terminals
      .replace(/\u001b\[[\d;?]*[ -/]*[@-~]/g, '')
      .replace(/\p{Cf}+/gu, '')
      // A single space stays as it is, which saves most of the time.
      .replace(/(?! (?![\p{C}\p{Z}]))[\p{C}\p{Z}]+/gu, ' ')
  );
}

const redacted = '[redacted]';

/** In addition to what `scrub` masks in every log line. Errs on the side of masking. */
const keyForms: readonly (readonly [RegExp, string])[] = [
  [/-----BEGIN [^-]{1,40}-----.*?(?:-----END [^-]{1,40}-----|$)/g, redacted],
  // JSON Web Tokens
  [/\beyJ[\w-]{6,}(?:\.[\w-]*)*/g, redacted],
  // "Incorrect API key provided: …", `"x-api-key":"…"`
  [
    /((?:api|access|secret|private|subscription|auth|account)[-_ ]?(?:key|token|secret)(?:[-_ ]?id)?|authorization|passw(?:or)?d|secret|credentials?|(?:session|security|refresh|id|bearer)[-_ ]token)((?: provided)?["'\\]*\s*[:=]\s*["'\\]*)(?:(?:Bearer|Basic)\s+)?[^\s"',;}\\]+/gi,
    `$1$2${redacted}`,
  ],
  // Parts of keys: `abcd****wxyz`, `ab12…yz`
  [/(?<![\w-])[\w-]*[*•]{3,}[\w-]*/g, redacted],
  [/(?<![\w-])(?=[\w-]*(?:…|\.{3})?[\w-]*\d)[\w-]{2,60}(?:…|\.{3})[\w-]{2,60}/g, redacted],
  // Random text. Ids of requests have a prefix and are what a provider's support asks for.
  [/(?<![A-Za-z0-9])(?<!\breq_)(?=[A-Za-z]*\d)(?=\d*[A-Za-z])[A-Za-z0-9]{20,}={0,2}/g, redacted],
  [/(?<![\w+/.:=-])(?=[\w+/-]*\d)(?=[\w+/-]*[a-z])(?=[\w+/-]*[A-Z])[\w+/-]{40,}={0,2}/g, redacted],
];

function maskKeys(line: string): string {
  return keyForms.reduce((masked, [form, replacement]) => masked.replace(form, replacement), scrub(line));
}

/** Texts with more characters together are not brought into one line, because that could take seconds. */
const mostFlattened = 1_000_000;

/** Texts of the request that a provider may quote, in one line like the provider's text. */
function textsOf({ messages }: Pick<GenerateRequest, 'messages'>): string[] {
  const all = messages.flatMap(({ content }) => {
    const texts = typeof content === 'string' ? [content] : content.flatMap((part) => textIn(part) ?? []);
    return texts.flatMap(withJson);
  });
  return lengthOf(all) > mostFlattened ? all : all.map(flatten);
}

function textIn(part: Exclude<Message['content'], string>[number]): string | undefined {
  switch (part.type) {
    case 'text':
    case 'thinking':
      return part.text;
    case 'tool-call':
      return part.arguments;
    case 'image':
      return undefined;
  }
}

function lengthOf(texts: readonly string[]): number {
  return texts.reduce((sum, { length }) => sum + length, 0);
}

/** A text, and how it is in a body that a provider quotes. */
function withJson(text: string): string[] {
  if (text.length > 1_000_000 || !/["\\\p{Cc}]/u.test(text)) return [text];
  return [text, JSON.stringify(text).slice(1, -1)];
}

/** The length of the pieces of the request that are searched for. */
const pieceLength = 16;
/** The most pieces that are searched for. A longer request has them in larger distances. */
const mostPieces = 131_072;
/** A shorter text is a word that is in many texts. */
const shortestText = 8;

/**
 * Replaces what a line quotes from texts: whole texts, and parts of 23 characters and more (of a megabyte of texts; of
 * more, longer parts).
 */
function maskQuotes(line: string, texts: readonly string[]): string {
  const places = new Map<string, number[]>();
  for (let start = 0; start + pieceLength <= line.length; start += 1) {
    const piece = line.slice(start, start + pieceLength);
    const found = places.get(piece);
    if (found) found.push(start);
    else places.set(piece, [start]);
  }
  const masked = new Uint8Array(line.length);
  const step = Math.max(pieceLength / 2, Math.ceil(lengthOf(texts) / mostPieces));
  for (const text of texts) {
    if (text.length >= shortestText && text.length < pieceLength) {
      for (let at = line.indexOf(text); at !== -1; at = line.indexOf(text, at + 1))
        masked.fill(1, at, at + text.length);
    }
    for (let from = 0; from + pieceLength <= text.length; from += step) {
      const piece = text.slice(from, from + pieceLength);
      for (const start of places.get(piece) ?? []) {
        if (masked[start] === 1) continue;
        let [first, last] = [0, pieceLength - 1];
        while (start + first > 0 && isSame(line[start + first - 1], text[from + first - 1])) first -= 1;
        while (isSame(line[start + last + 1], text[from + last + 1])) last += 1;
        masked.fill(1, start + first, start + last + 1);
      }
      places.delete(piece);
    }
  }
  let result = '';
  for (let at = 0; at < line.length; at += 1) {
    if (masked[at] !== 1) result += line.charAt(at);
    else if (masked[at - 1] !== 1) result += '[prompt]';
  }
  return result;
}

/** Whether characters are the same in one line. */
function isSame(shown: string | undefined, sent: string | undefined): boolean {
  return shown !== undefined && sent !== undefined && (shown === sent || (shown === ' ' && sent < ' '));
}

function cut(line: string): string {
  const bytes = Buffer.from(line);
  if (bytes.length <= mostBytes) return line;
  const mark = '…';
  // In a stream, the decoder leaves out a character that is not complete.
  const start = bytes.subarray(0, mostBytes - Buffer.byteLength(mark));
  return new TextDecoder().decode(start, { stream: true }) + mark;
}
