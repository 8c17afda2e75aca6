import type { UseFormReturnType } from '@mantine/form';
import { ProblemError } from 'prompt-gateway-client';

/** What of a form is needed to show mistakes at its fields. */
type AnyForm = Pick<UseFormReturnType<never>, 'setErrors'>;

/** A mistake that the service found, with its place in the request, for example `tags.0`. */
export interface PlacedMistake {
  readonly place: string;
  readonly detail: string;
}

/** The mistakes that the service found, as far as they have a place in the request. */
export function placedMistakes(error: unknown): PlacedMistake[] {
  if (!(error instanceof ProblemError)) return [];
  return (error.problem.errors ?? []).flatMap(({ pointer, detail }) =>
    pointer === undefined || pointer === '#' ? [] : [{ place: readPointer(pointer), detail }],
  );
}

/**
 * Shows the mistakes that the service found at the fields of a form.
 * @param toField changes the place of a mistake (`tags.0`) to the name of a field, where they differ
 */
export function showMistakes(
  form: AnyForm,
  error: unknown,
  toField: (place: string) => string = (place) => place,
): void {
  const mistakes = placedMistakes(error).map(({ place, detail }) => [toField(place), detail] as const);
  if (mistakes.length === 0) return;
  form.setErrors(Object.fromEntries(mistakes));
  focusMistake();
}

/**
 * Brings the first mistake into view, with the focus in its field, as soon as the page shows it. Also as second argument
 * of `form.onSubmit`.
 */
export function focusMistake(): void {
  requestAnimationFrame(() => {
    const found = document.querySelector<HTMLElement>('[aria-invalid="true"], .mantine-InputWrapper-error');
    // The mistake of a group stands below its fields.
    const field = found?.matches('[aria-invalid]')
      ? found
      : found?.closest('.mantine-InputWrapper-root')?.querySelector<HTMLElement>('input, textarea, select, button');
    field?.scrollIntoView({ block: 'center' });
    field?.focus({ preventScroll: true });
  });
}

/** `tags.0` of the JSON Pointer `#/tags/0` (RFC 6901, section 6). */
function readPointer(pointer: string): string {
  return decodeURIComponent(pointer)
    .replace(/^#\//, '')
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .join('.');
}
