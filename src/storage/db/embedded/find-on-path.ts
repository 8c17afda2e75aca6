import { access, constants, stat } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';

/** The absolute path of an executable found by a PATH variable; undefined when there is none. */
export async function findOnPath(name: string, path = ''): Promise<string | undefined> {
  for (const folder of path.split(delimiter).filter(isAbsolute)) {
    const candidate = join(folder, name);
    const isExecutable = await access(candidate, constants.X_OK).then(
      async () => (await stat(candidate)).isFile(),
      () => false,
    );
    if (isExecutable) return candidate;
  }
  return undefined;
}
