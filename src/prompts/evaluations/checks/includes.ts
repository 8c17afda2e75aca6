import type { Turns } from '../../../base/runtime/turns.ts';

/** Up to this length of what is searched, `includes` is quick for every text. */
const short = 200;
/** Characters between two turns: a fraction of a millisecond. */
const step = 32 * 1024;

/**
 * Whether a text has another one in it, in linear time: `includes` can take the product of both lengths, 20 seconds for a
 * megabyte. By Knuth, Morris and Pratt: https://doi.org/10.1137/0206024
 * @param turns so that others do not wait for it
 */
export async function includes(text: string, searched: string, turns: Turns): Promise<boolean> {
  if (searched.length <= short) return text.includes(searched);
  /** For each length of a beginning of what is searched: the longest shorter beginning that it ends with. */
  const shorter = new Uint32Array(searched.length + 1);
  const next = (length: number, code: number): number => {
    let left = length;
    while (left > 0 && searched.charCodeAt(left) !== code) left = shorter[left] ?? 0;
    return searched.charCodeAt(left) === code ? left + 1 : 0;
  };
  for (let at = 1, length = 0; at < searched.length; at += 1) {
    if (at % step === 0) await turns();
    length = next(length, searched.charCodeAt(at));
    shorter[at + 1] = length;
  }
  for (let at = 0, length = 0; at < text.length; at += 1) {
    if (at % step === 0) await turns();
    length = next(length, text.charCodeAt(at));
    if (length === searched.length) return true;
  }
  return false;
}
