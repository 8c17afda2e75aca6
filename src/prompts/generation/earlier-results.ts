/**
 * Results of calls as earlier releases stored them, which named the calls of tools `toolCalls`. Stored results are
 * answered byte by byte, so the name is replaced in their text, behind the three members that always precede it. An
 * object of a caller can have one of them, too. A text inside a string has no plain quotes.
 */
import { Transform } from 'node:stream';

const named =
  /("finishReason":"[a-z-]{1,30}","usage":\{[^{}]{0,300}\},"cost":(?:null|\{"amount":"[\d.]+","currency":"USD"(?:,"price_match":"prefix")?(?:,"basis":"ceiling")?\}),)"toolCalls":(?=\[\{"id":)/g;
/** More characters than the pattern matches. */
const longest = 800;

function rename(text: string): string {
  return text.includes('"toolCalls":[') ? text.replaceAll(named, '$1"tool_calls":') : text;
}

/** The results with the present name. */
export function withPresentNames(stored: Buffer): Buffer {
  return stored.includes('"toolCalls":[') ? Buffer.from(rename(stored.toString('latin1')), 'latin1') : stored;
}

/** The same for results that are read piece by piece. @param length of all pieces; it fails if they have another */
export function presentNames(length: number): Transform {
  let rest = '';
  let received = 0;
  return new Transform({
    transform(piece: Buffer, _encoding, done) {
      received += piece.length;
      const text = rename(rest + piece.toString('latin1'));
      rest = text.slice(-longest);
      done(null, Buffer.from(text.slice(0, -longest), 'latin1'));
    },
    flush(done) {
      if (received === length) done(null, Buffer.from(rest, 'latin1'));
      else done(new Error(`${received} bytes are stored, of ${length}`));
    },
  });
}
