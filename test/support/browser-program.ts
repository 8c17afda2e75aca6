import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream, globSync } from 'node:fs';
import { access, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createBrotliDecompress } from 'node:zlib';
import { defaultCacheDir } from '../../src/storage/db/embedded/cache-dir.ts';
import { withFileLock } from '../../src/storage/db/embedded/file-lock.ts';
import { findOnPath } from '../../src/storage/db/embedded/find-on-path.ts';
import { runCommand } from '../../src/storage/db/embedded/run-command.ts';

/** The command that starts a browser. */
export interface BrowserProgram {
  readonly executablePath: string;
  readonly args: string[];
  /** Additional variables for the process. */
  readonly env: Readonly<Record<string, string>>;
}

/** A Chromium from npm, for Linux on x64, with the libraries and fonts that a minimal system lacks. */
const npmChromium = {
  name: '@sparticuz/chromium',
  version: '153.0.0',
  sha512: 'jiGWqSvPMdu4+P9TilYqAR7yEGPEHINx+lCvE/NqNO/EHYzF/x1hUiI5T6ioVIt7dEy7n88byyT0vk+dnsgQwA==',
};

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome'];

/** The folders where Playwright's installer and the installers of Chrome put browsers. */
const places = [
  '.cache/ms-playwright/chromium*-*/chrome-linux*/{chrome,headless_shell}',
  'Library/Caches/ms-playwright/chromium-*/chrome-mac*/Chromium.app/Contents/MacOS/Chromium',
  '../../Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

/**
 * The system's Chromium or Chrome, or else the browser from npm. The first call on a machine downloads it into the
 * folder for downloaded database engines.
 *
 * @throws Error that says what to install
 */
export async function findBrowserProgram(env: NodeJS.ProcessEnv = process.env): Promise<BrowserProgram> {
  for (const name of names) {
    const found = await findOnPath(name, env['PATH']);
    if (found !== undefined) return { executablePath: found, args: [], env: {} };
  }
  const [installed] = globSync(places, { cwd: env['HOME'] ?? homedir() });
  if (installed !== undefined) {
    return { executablePath: path.join(env['HOME'] ?? homedir(), installed), args: [], env: {} };
  }
  return await obtainFromNpm(env);
}

async function obtainFromNpm(env: NodeJS.ProcessEnv): Promise<BrowserProgram> {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    throw new Error('The browser tests need Chromium or Chrome. Install one of them.');
  }
  const cache = defaultCacheDir(env, env['HOME'] ?? homedir());
  const folder = path.join(cache, `chromium-${npmChromium.version}`);
  await mkdir(cache, { recursive: true });
  await withFileLock(`${folder}.lock`, async () => {
    const isThere = await access(folder).then(
      () => true,
      () => false,
    );
    if (!isThere) await download(folder, env);
  }).catch((cause: unknown) => {
    throw new Error('The browser tests need Chromium. npm could not bring one, so install it.', { cause });
  });
  return {
    executablePath: path.join(folder, 'chromium'),
    // The default arguments of the package would disable the security of the browser.
    args: ['--no-zygote', '--disable-gpu'],
    env: { LD_LIBRARY_PATH: path.join(folder, 'lib'), FONTCONFIG_FILE: path.join(folder, 'fonts.conf') },
  };
}

async function download(folder: string, env: NodeJS.ProcessEnv): Promise<void> {
  const part = await mkdtemp(`${folder}.`);
  try {
    const { name, version, sha512 } = npmChromium;
    const options = { env, silenceMs: 15 * 60_000 };
    await runCommand('npm', ['pack', `${name}@${version}`, '--silent', '--pack-destination', part], options);
    const [archive = ''] = globSync('*.tgz', { cwd: part }).map((file) => path.join(part, file));
    const found = createHash('sha512')
      .update(await readFile(archive))
      .digest('base64');
    if (found !== sha512) throw new Error(`${name}@${version} is not the package that the tests were written with.`);
    await runCommand('tar', ['-xzf', archive, '-C', part], options);
    const bin = path.join(part, 'package/bin');
    const unpack = async (file: string, target: string): Promise<void> => {
      const content = createReadStream(path.join(bin, file));
      await pipeline(content, createBrotliDecompress(), createWriteStream(target, { mode: 0o755 }));
    };
    await unpack('chromium.br', path.join(part, 'chromium'));
    for (const libraries of ['al2023.tar', 'fonts.tar']) {
      await unpack(`${libraries}.br`, path.join(bin, libraries));
      await runCommand('tar', ['-xf', path.join(bin, libraries), '-C', part], options);
    }
    // The default file of the package names folders of another system.
    const fonts = ['/usr/share/fonts', path.join(folder, 'fonts')].map((place) => `<dir>${place}</dir>`).join('');
    const cached = `<cachedir>${path.join(folder, 'fonts-cache')}</cachedir>`;
    await writeFile(path.join(part, 'fonts.conf'), `<?xml version="1.0"?><fontconfig>${fonts}${cached}</fontconfig>`);
    await Promise.all([archive, path.join(part, 'package')].map((file) => rm(file, { recursive: true })));
    await rename(part, folder);
  } finally {
    await rm(part, { recursive: true, force: true });
  }
}
