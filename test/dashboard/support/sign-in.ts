import type { Page } from 'playwright-core';
import type { OpenOptions, TestBrowser } from '../../support/browser.ts';
import type { TestService } from '../../support/service.ts';

const signInButton = /^(Sign in|Anmelden)$/;

/** Fills in the sign-in form, in English or German, on the sign-in page or in the dialog of a lost session, and sends it. */
export async function signIn(page: Page, apiKey: string): Promise<void> {
  await page.getByLabel(/^(API key|API-Schlüssel)$/).fill(apiKey);
  await page.getByRole('button', { name: signInButton }).click();
}

/**
 * Opens a screen of the dashboard in a browser context of its own, signed in. Other pages of the context have the same
 * session.
 *
 * @param target below `/dashboard`: `/integrations`
 * @param options `apiKey` is by default the one of the administrator
 */
export async function openSignedIn(
  browser: TestBrowser,
  service: TestService,
  target: string,
  { apiKey = service.adminKey, ...options }: OpenOptions & { readonly apiKey?: string } = {},
): Promise<Page> {
  const page = await browser.open(service.url, `/dashboard${target}`, options);
  await signIn(page, apiKey);
  await page.getByRole('button', { name: signInButton }).waitFor({ state: 'detached' });
  return page;
}
