import type { FormErrors, UseFormReturnType } from '@mantine/form';
import { ProblemError } from 'prompt-gateway-client';

/** What of a form is needed to show mistakes at its fields. */
type AnyForm = Pick<UseFormReturnType<never>, 'setErrors'>;

/**
 * Shows the mistakes that the service found at the fields of a form.
 * @param toField changes the place of a mistake (`tags.0`) to the name of a field, where they differ
 */
export function showMistakes(
  form: AnyForm,
  error: unknown,
  toField: (place: string) => string = (place) => place,
): void {
  if (!(error instanceof ProblemError)) return;
  const mistakes = (error.problem.errors ?? []).flatMap(({ pointer, detail }) =>
    pointer === undefined || pointer === '#' ? [] : [[toField(readPointer(pointer)), detail] as const],
  );
  if (mistakes.length > 0) form.setErrors(Object.fromEntries(mistakes));
}

/** Second argument of `form.onSubmit`: brings the first field with a mistake into view, with the focus in it. */
export function focusMistake(form: Pick<UseFormReturnType<never>, 'getInputNode'>): (mistakes: FormErrors) => void {
  return (mistakes) => {
    const field = form.getInputNode(Object.keys(mistakes)[0] ?? '');
    field?.scrollIntoView({ block: 'center' });
    field?.focus({ preventScroll: true });
  };
}

/** `tags.0` of the JSON Pointer `#/tags/0` (RFC 6901, section 6). */
function readPointer(pointer: string): string {
  return decodeURIComponent(pointer)
    .replace(/^#\//, '')
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .join('.');
}
