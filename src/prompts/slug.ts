import slugify from '@sindresorhus/slugify';

/** The most characters of a slug. */
const longest = 80;
const uuidForm = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
/** The slug of a name without letters or digits that can be transliterated, such as `???` or `日本語`. */
const fallback = 'prompt';

/** How many slugs one look-up of the search for a free one contains. */
const probes = 32;
/** Larger than the number of prompts of any database. */
const highest = 2 ** 40;

/** Whether this is a prompt's id. Slugs never have this form. */
export function isPromptId(slugOrId: string): boolean {
  return uuidForm.test(slugOrId);
}

/** Whether this is an alias: it contains an underscore, which neither slugs nor ids do. */
export function isPromptAlias(name: string): boolean {
  return name.includes('_');
}

/** Operations whose paths are where the path of a prompt with this slug would be. */
const reserved: ReadonlySet<string> = new Set(['export', 'import']);

/** Whether no prompt can get this slug. */
export function isReserved(slug: string): boolean {
  return reserved.has(slug);
}

/** The slug of a name, before the check whether it is free. */
export function slugFromName(name: string): string {
  const slug = cut(slugify(name), longest);
  if (slug === '') return fallback;
  return isPromptId(slug) || isReserved(slug) ? `${fallback}-${slug}` : slug;
}

/** The slug with a suffix, shortened if both together are too long. */
export function withSuffix(slug: string, suffix: string): string {
  return `${cut(slug, longest - suffix.length - 1)}-${suffix}`;
}

/**
 * A slug with the suffix `-2`, `-3` … that is not taken: the first free one, or, after dozens of taken ones, one that
 * directly follows a taken one. With ten thousand prompts of one name this costs four look-ups, not ten thousand.
 *
 * @param taken which of these slugs are taken
 */
export async function freeSlug(
  slug: string,
  taken: (slugs: readonly string[]) => Promise<ReadonlySet<string>>,
): Promise<string> {
  const numbered = (number: number): string => withSuffix(slug, String(number));
  let [low, high] = [1, highest];
  let numbers = firstProbes();
  for (;;) {
    const found = await taken(numbers.map(numbered));
    for (const number of numbers) {
      if (found.has(numbered(number))) {
        low = number;
      } else {
        high = number;
        break;
      }
    }
    // `low` is taken (or the slug without a suffix), `high` is free.
    if (high - low <= 1) return numbered(high);
    numbers = probesBetween(low, high);
  }
}

/** 2 to 33, then 64, 128 … */
function firstProbes(): number[] {
  const numbers = Array.from({ length: probes }, (_, index) => index + 2);
  for (let number = 2 * probes; number < highest; number *= 2) numbers.push(number);
  return numbers;
}

function probesBetween(low: number, high: number): number[] {
  const step = Math.ceil((high - low) / (probes + 1));
  const numbers: number[] = [];
  for (let number = low + step; number < high; number += step) numbers.push(number);
  return numbers;
}

/** Shortens a slug at the end of a word, unless more than half of it would be lost. */
function cut(slug: string, length: number): string {
  if (slug.length <= length) return slug;
  const head = slug.slice(0, length);
  const boundary = slug[length] === '-' ? length : head.lastIndexOf('-');
  return (boundary > length / 2 ? head.slice(0, boundary) : head).replace(/-$/, '');
}
