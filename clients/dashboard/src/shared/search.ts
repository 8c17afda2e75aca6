/** What a search parameter can be: one of some values, or any text. */
type Rule = readonly string[] | 'text';

type SearchOf<Rules extends Record<string, Rule>> = {
  [Name in keyof Rules]?: Rules[Name] extends readonly (infer Value)[] ? Value : string;
};

/**
 * Makes `validateSearch` of a route: `searchOf({ status: ['open', 'closed'], q: 'text' })`. Everything else in the
 * address is left out, also values that are not in the list.
 */
export function searchOf<const Rules extends Record<string, Rule>>(
  rules: Rules,
): (search: Record<string, unknown>) => SearchOf<Rules> {
  return (search) => {
    const kept = Object.entries(rules).flatMap(([name, rule]) => {
      const value = search[name];
      const isKept = typeof value === 'string' && value !== '' && (rule === 'text' || rule.includes(value));
      return isKept ? [[name, value]] : [];
    });
    return Object.fromEntries(kept) as SearchOf<Rules>;
  };
}
