import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { findBrowserProgram } from '../support/browser-program.ts';
import { expectAccessible, takeScreenshots, useBrowser } from '../support/browser.ts';
import { startPathProxy, type PathProxy } from '../support/path-proxy.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { openSignedIn } from './support/sign-in.ts';

const browser = useBrowser();
let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

/** Waits until the page shows a part of the application. */
async function expectShown(page: Page): Promise<void> {
  await page.locator('#root :is(h1, h2, label)').first().waitFor();
  // The style sheet of the build, and elements that the page adds as it runs.
  const [linked, added] = (await page.evaluate(
    `['LINK', 'STYLE'].map((name) => [...document.styleSheets].filter(
      (sheet) => sheet.ownerNode.tagName === name && sheet.cssRules.length > 0).length)`,
  )) as number[];
  expect(linked).toBeGreaterThan(0);
  expect(added).toBeGreaterThan(0);
}

describe('the page', () => {
  it.each(['/dashboard', '/dashboard/', '/dashboard/integrations', '/dashboard/nothing/of/this?name=is#there'])(
    'works at %s with its Content-Security-Policy',
    async (target) => {
      await expectShown(await browser.open(service.url, target));
    },
  );

  it('is accessible', async () => {
    const page = await browser.open(service.url, '/dashboard');
    await expectShown(page);
    await expectAccessible(page);
    await takeScreenshots(page, 'sign-in');
  });

  describe('behind a proxy that adds a path', () => {
    let proxied: TestService;
    let proxy: PathProxy;
    beforeAll(async () => {
      proxied = await startTestService({ environment: { BASE_PATH: '/a/gateway' } });
      proxy = await startPathProxy(proxied.url, '/a/gateway');
    });
    afterAll(async () => {
      await proxy.close();
      await proxied.close();
    });

    it.each(['/a/gateway/dashboard', '/a/gateway/dashboard/prompts/abc'])('works at %s', async (target) => {
      const page = await browser.open(proxy.origin, target);
      await expectShown(page);
      const asked = (await page.evaluate(
        `performance.getEntriesByType('resource').map(({ name }) => new URL(name).pathname)`,
      )) as string[];
      expect(asked.length).toBeGreaterThan(1);
      expect(asked.filter((pathname) => !pathname.startsWith('/a/gateway/'))).toEqual([]);
    });
  });
});

describe('the language', () => {
  const expectLanguage = (page: Page, tag: string): Promise<void> =>
    page.locator(`html[lang="${tag}"]`).waitFor({ state: 'attached' });
  /** How many files with German texts the page has loaded. */
  const germanFiles = async (page: Page): Promise<number> => {
    const asked = await page.evaluate(`performance.getEntriesByType('resource').map(({ name }) => name)`);
    return (asked as string[]).filter((name) => /\/de-[^/]+\.js$/.test(name)).length;
  };

  it('is chosen in the account menu, and lasts', async () => {
    const page = await openSignedIn(browser, service, '/api-keys');
    await page.getByRole('heading', { level: 1, name: 'API keys' }).waitFor();
    await expectLanguage(page, 'en');
    expect(await germanFiles(page)).toBe(0);
    await page.getByRole('button', { name: 'Account: administrator' }).click();
    await page.getByRole('menuitemradio', { name: 'Deutsch' }).click();
    await page.getByRole('heading', { level: 1, name: 'API-Schlüssel' }).waitFor();
    await expectLanguage(page, 'de');
    await until(
      () => germanFiles(page),
      (count) => count === 1,
    );
    await page.reload();
    await page.getByRole('heading', { level: 1, name: 'API-Schlüssel' }).waitFor();
    await expectLanguage(page, 'de');
  });

  it('is the one of the browser at the first visit', async () => {
    const page = await browser.open(service.url, '/dashboard', { locale: 'de-AT' });
    await page.getByRole('heading', { level: 1, name: 'Anmelden' }).waitFor();
    await expectLanguage(page, 'de');
  });
});

describe('another site', () => {
  let site: Server;
  let origin: string;
  const received: (string | undefined)[] = [];
  beforeAll(async () => {
    site = createServer((request, response) => {
      received.push(request.url);
      response.setHeader('content-type', 'text/html');
      response.end(`<iframe src="${service.url}/dashboard"></iframe>`);
    }).listen(0, '127.0.0.1');
    await once(site, 'listening');
    origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    site.closeAllConnections();
    site.close();
  });

  it('cannot frame the page', async () => {
    browser.tolerate(/frame-ancestors|favicon|ERR_BLOCKED_BY_RESPONSE/);
    const page = await browser.open(origin, '/', { origins: [service.url] });
    const frame = await until(() => page.frames().find((found) => found !== page.mainFrame()));
    await until(
      () => frame?.url(),
      (url) => url === 'chrome-error://chromewebdata/',
    );
    expect(await frame?.locator('#root').count()).toBe(0);
  });

  it('gets no data from the page, and the page runs only its own scripts', async () => {
    const page = await browser.open(service.url, '/dashboard');
    await expectShown(page);
    browser.tolerate(/Content Security Policy|request to another origin|ERR_BLOCKED_BY_CSP|csp/i);
    received.length = 0;
    const outcome = await page.evaluate(`(async () => {
      const outcomeOf = (element) => new Promise((done) => {
        element.addEventListener('load', () => done('loaded'));
        element.addEventListener('error', () => done('refused'));
      });
      const add = (name, fields, parent = document.body) => {
        const element = Object.assign(document.createElement(name), fields);
        parent.append(element);
        return outcomeOf(element);
      };
      const outcomes = [
        await add('img', { src: '${origin}/image' }),
        await add('script', { src: '${origin}/script' }),
        await fetch('${origin}/fetch').then(() => 'loaded', () => 'refused'),
      ];
      const holder = document.createElement('div');
      document.body.append(holder);
      holder.innerHTML = '<img src="data:," onerror="window.ran = true"><style>#root { display: none }</style>';
      await outcomeOf(holder.querySelector('img'));
      void add('script', { textContent: 'window.ran = true' });
      return [...outcomes, window.ran ?? 'did not run', getComputedStyle(document.getElementById('root')).display];
    })()`);
    expect(outcome).toEqual(['refused', 'refused', 'refused', 'did not run', 'block']);
    expect(received).toEqual([]);
  });
});

describe('the browser of the tests', () => {
  it('is the one of the system, else the one that Playwright installed', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'browsers-'));
    const place = async (file: string): Promise<string> => {
      const program = path.join(folder, file);
      await mkdir(path.dirname(program), { recursive: true });
      await writeFile(program, '', { mode: 0o755 });
      return program;
    };
    const env = { PATH: path.join(folder, 'bin'), HOME: folder };
    const installed = await place('.cache/ms-playwright/chromium-1234/chrome-linux/chrome');
    expect(await findBrowserProgram(env)).toEqual({ executablePath: installed, args: [], env: {} });
    const own = await place('bin/google-chrome');
    expect(await findBrowserProgram(env)).toEqual({ executablePath: own, args: [], env: {} });
    await rm(folder, { recursive: true });
  });

  it('reports errors, failed requests, and requests to other origins', async () => {
    const page = await browser.open(service.url, '/dashboard');
    await expectShown(page);
    // The policy of the page blocks every other way to send data.
    await page.evaluate(`
      console.error('logged');
      setTimeout(() => { throw new Error('thrown'); });
      void fetch('/dashboard/assets/missing.js').then(() => { location.href = 'https://elsewhere.example/'; });
    `);
    const expected = [
      /console error: logged/,
      /uncaught: .*thrown/,
      /console error: .*404.*missing\.js/,
      /request to another origin: https:\/\/elsewhere\.example\/$/,
      /request failed: https:\/\/elsewhere\.example\/ \(net::ERR_NAME_NOT_RESOLVED\)/,
    ];
    for (const pattern of expected) await until(() => browser.complaints.some((found) => pattern.test(found)));
    for (const pattern of expected) browser.tolerate(pattern);
  });
});
