import path from 'node:path';
import { AxeBuilder } from '@axe-core/playwright';
import { afterAll, afterEach, beforeAll, expect } from '@jest/globals';
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';
import { findBrowserProgram } from './browser-program.ts';

export interface OpenOptions {
  /** In pixels; 1,280 by default. */
  readonly width?: number;
  readonly colorScheme?: 'light' | 'dark';
  /** The language of the browser, as a tag (BCP 47); `en-US` by default, whatever the machine has. */
  readonly locale?: string;
  /** Other origins that the page may reach, besides its own. */
  readonly origins?: readonly string[];
  /** Whether every certificate is accepted. */
  readonly trustsAll?: boolean;
}

export interface TestBrowser {
  /** The problems in the pages of this test so far, without the expected ones. */
  readonly complaints: readonly string[];
  /**
   * Opens an address in a context of its own, which shares nothing with other pages. After that, `page.goto` accepts
   * paths.
   *
   * @param origin of the service, or of the proxy in front of it
   */
  open(origin: string, target: string, options?: OpenOptions): Promise<Page>;
  /** Allows matching complaints in this test, for tests that cause a failure on purpose. */
  tolerate(pattern: RegExp): void;
}

const schemes = ['light', 'dark'] as const;

/** The address for unresolved names, so that no test sends a request outside this machine. */
const offline = '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1 , EXCLUDE localhost';

/**
 * Starts one browser for the tests of a file. A test fails if a page logs an error, throws one, violates its
 * Content-Security-Policy, has a failed request, or sends a request to another origin.
 */
export function useBrowser(): TestBrowser {
  let browser: Browser | undefined;
  const contexts: BrowserContext[] = [];
  let complaints: string[] = [];
  let tolerated: RegExp[] = [];
  const complain = (complaint: string): void => {
    if (!tolerated.some((pattern) => pattern.test(complaint))) complaints.push(complaint);
  };

  beforeAll(async () => {
    const { executablePath, args, env } = await findBrowserProgram();
    browser = await chromium.launch({ executablePath, args: [offline, ...args], env: { ...process.env, ...env } });
  });
  afterEach(async () => {
    // Complaints that the browser reported before are known when it reports that the contexts are closed.
    await Promise.all(contexts.splice(0).map((context) => context.close()));
    const found = complaints;
    complaints = [];
    tolerated = [];
    expect(found).toEqual([]);
  });
  afterAll(async () => {
    await browser?.close();
  });

  return {
    get complaints() {
      return complaints;
    },
    tolerate(pattern) {
      tolerated.push(pattern);
      complaints = complaints.filter((complaint) => !pattern.test(complaint));
    },
    async open(
      origin,
      target,
      { width = 1280, colorScheme = 'light', locale = 'en-US', origins = [], trustsAll = false } = {},
    ) {
      if (browser === undefined) throw new Error('the browser has not started');
      const viewport = { width, height: 800 };
      const context = await browser.newContext({
        baseURL: origin,
        viewport,
        colorScheme,
        locale,
        reducedMotion: 'reduce',
        ignoreHTTPSErrors: trustsAll,
      });
      contexts.push(context);
      watch(context, new Set([origin, ...origins]), complain);
      const page = await context.newPage();
      await page.goto(target);
      return page;
    },
  };
}

function watch(context: BrowserContext, origins: ReadonlySet<string>, complain: (complaint: string) => void): void {
  context.on('console', (message) => {
    const isProblem = message.type() === 'error' || message.type() === 'warning';
    if (isProblem) complain(`console ${message.type()}: ${message.text()} (${message.location().url})`);
  });
  context.on('weberror', (error) => {
    complain(`uncaught: ${String(error.error())}`);
  });
  context.on('request', (request) => {
    const { protocol, origin } = new URL(request.url());
    const isLocal = protocol === 'data:' || protocol === 'blob:' || protocol === 'about:';
    if (!isLocal && !origins.has(origin)) complain(`request to another origin: ${request.url()}`);
  });
  context.on('requestfailed', (request) => {
    const reason = request.failure()?.errorText ?? '';
    // A page itself cancels requests: when the user leaves it, and when it no longer needs the answer.
    if (reason !== 'net::ERR_ABORTED') complain(`request failed: ${request.url()} (${reason})`);
  });
}

/** Expects that axe finds nothing on the current page, in light and in dark. */
export async function expectAccessible(page: Page): Promise<void> {
  for (const colorScheme of schemes) {
    await page.emulateMedia({ colorScheme });
    await settle(page);
    // The other mode would open a separate page for the content of frames.
    const rules = { 'label-content-name-mismatch': { enabled: true } };
    const axe = new AxeBuilder({ page }).setLegacyMode().options({ resultTypes: ['violations'], rules });
    if (colorScheme === 'dark') axe.withRules(['color-contrast', 'link-in-text-block']);
    const { violations } = await axe.analyze();
    const found = violations.map(({ id, help, nodes }) => ({ id, help, elements: nodes.map(({ html }) => html) }));
    expect({ colorScheme, found }).toEqual({ colorScheme, found: [] });
  }
}

const screenshots = path.join(import.meta.dirname, '../../clients/dashboard/screenshots');

/**
 * With `SCREENSHOTS=on`, saves a picture of the page in both widths and both colour schemes; with `SCREENSHOTS=de` of the
 * same address in German, opened anew; otherwise does nothing.
 *
 * @param name of the files, before width and scheme
 */
export async function takeScreenshots(page: Page, name: string): Promise<void> {
  const wanted = process.env['SCREENSHOTS'];
  if (wanted === 'de') {
    const german = await openInGerman(page);
    await savePictures(german, `${name}-de`);
    await german.close();
  }
  if (wanted === 'on') await savePictures(page, name);
}

async function openInGerman(page: Page): Promise<Page> {
  const german = await page.context().newPage();
  const key = "'prompt-gateway-language'";
  await german.addInitScript(`localStorage.setItem(${key}, 'de')`);
  await german.goto(page.url());
  await german.waitForLoadState('networkidle');
  await page.evaluate(`localStorage.setItem(${key}, 'en')`);
  return german;
}

async function savePictures(page: Page, name: string): Promise<void> {
  const before = page.viewportSize();
  for (const [width, height] of [
    [1280, 800],
    [390, 844],
  ] as const) {
    await page.setViewportSize({ width, height });
    for (const colorScheme of schemes) {
      await page.emulateMedia({ colorScheme });
      await settle(page);
      await page.screenshot({ path: path.join(screenshots, `${name}-${width}-${colorScheme}.png`) });
    }
  }
  if (before !== null) await page.setViewportSize(before);
}

/** Waits for fonts, and for animations that end. */
async function settle(page: Page): Promise<void> {
  // Transitions begin with the frame after a change.
  await page.evaluate(`new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))).then(() => Promise.all([
    document.fonts.ready,
    ...document.getAnimations()
      .filter((animation) => animation.effect.getComputedTiming().endTime !== Infinity)
      .map((animation) => animation.finished.catch(() => undefined)),
  ])).then(() => undefined)`);
}
