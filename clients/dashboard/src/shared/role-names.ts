import { useFormat, useTexts } from './texts.tsx';

/** Says roles in the chosen language, in one line. A role of a later release is said by its name. */
export function useRoleNames(): (roles: readonly string[]) => string {
  const names: Readonly<Record<string, string>> = useTexts().shell.roles;
  const format = useFormat();
  return (roles) => format.list(roles.map((role) => names[role] ?? role));
}
