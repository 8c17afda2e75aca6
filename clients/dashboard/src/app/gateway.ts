import { PromptGateway } from 'prompt-gateway-client';

/** Address of this page, such as `https://gateway.example.com/dashboard/`. The service writes it as `<base>`. */
const pageUrl = new URL('.', document.baseURI);

/** Path of this page, without a slash at its end. */
export const basePath: string = pageUrl.pathname.replace(/\/$/, '');

/** Address of the service, with a slash at its end. */
export const serviceUrl: string = new URL('..', pageUrl).href;

/** The client of the service. It sends no key: the browser sends the cookie of the session. */
export const gateway: PromptGateway = new PromptGateway({ baseUrl: serviceUrl, apiKey: null, maxRetries: 1 });
