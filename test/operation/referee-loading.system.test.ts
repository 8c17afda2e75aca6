import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';

const root = new URL('../../', import.meta.url);

/** Counts the files of express-openapi-validator that a process has loaded after it loaded these modules of `src/`. */
async function loadedFiles(...modules: readonly string[]): Promise<number> {
  const script = `
    import { createRequire } from 'node:module';
    for (const module of ${JSON.stringify(modules)}) await import(new URL('src/' + module, ${JSON.stringify(root.href)}).href);
    const files = Object.keys(createRequire(${JSON.stringify(import.meta.url)}).cache);
    console.log(files.filter((file) => file.includes('express-openapi-validator')).length);
  `;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script]);
  return Number(stdout);
}

describe('the contract referee', () => {
  it('is not loaded with the service', async () => {
    expect(await loadedFiles('main.ts')).toBe(0);
  });

  it('is loaded when it is first needed', async () => {
    expect(await loadedFiles('main.ts', 'http/referee.ts')).toBeGreaterThan(0);
  });
});
