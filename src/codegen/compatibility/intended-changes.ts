/** Intended breaking changes with their reasons. In a name, `*` stands for any text. */
export interface IntendedChanges {
  readonly reason: string;
  readonly changes: readonly string[];
}

/**
 * Finds mistakes in the changes since the last release: breaking changes that are not intended, and entries that match
 * no change. Changes of a schema that many operations share are one line.
 */
export function findUnintended(breaking: readonly string[], intended: readonly IntendedChanges[]): string[] {
  const patterns = intended.flatMap(({ changes }) => changes).map((name) => ({ name, expression: toExpression(name) }));
  const unintended = breaking.filter((change) => !patterns.some(({ expression }) => expression.test(change)));
  const unused = patterns.filter(({ expression }) => !breaking.some((change) => expression.test(change)));
  return [
    ...summarise(unintended),
    ...unused.map(({ name }) => `${name} (is listed, but nothing has changed like this)`),
  ];
}

/** The breaking changes that are intended, by reason. Changes of a schema that many operations share are one line. */
export function findIntended(
  breaking: readonly string[],
  intended: readonly IntendedChanges[],
): { readonly reason: string; readonly changes: readonly string[] }[] {
  return intended.map(({ reason, changes }) => {
    const expressions = changes.map(toExpression);
    return {
      reason,
      changes: summarise(breaking.filter((one) => expressions.some((expression) => expression.test(one)))),
    };
  });
}

function toExpression(name: string): RegExp {
  const parts = name.split('*').map((part) => part.replaceAll(/[\\^$.|?+()[\]{}]/g, String.raw`\$&`));
  return new RegExp(`^${parts.join('.*')}$`);
}

/** @param changes such as `getOrder answer 200 .total: removed` */
function summarise(changes: readonly string[]): string[] {
  const alike = Map.groupBy(changes, (change) => / \..*$/.exec(change)?.[0] ?? change);
  return [...alike.values()].map(([first = '', ...others]) =>
    others.length === 0 ? first : `${first} (and ${String(others.length)} more like this)`,
  );
}
