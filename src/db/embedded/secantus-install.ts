import { join } from 'node:path';
import { installPythonPackage, type PythonPackageOptions } from './python-package.ts';

/** The release of SecantusDB that is installed. https://pypi.org/project/SecantusDB/ */
export const SECANTUS_VERSION = '0.7.0b3';

/**
 * Installs SecantusDB from PyPI, or finds it in the cache folder.
 *
 * @returns the path of the server program
 * @throws Error with the reason, in words for the operator
 */
export async function installSecantus(options: Omit<PythonPackageOptions, 'name'>): Promise<string> {
  const programs = await installPythonPackage({ name: 'SecantusDB', ...options });
  return join(programs, 'secantusd-py');
}
