import type { Client } from 'openapi-fetch';
import type { GatewayOptions } from './gateway-options.ts';
import type { Resources } from './generated/resources.ts';
import type { paths } from './generated/types.ts';
import { makeResources } from './resources.ts';
import { createSend } from './send.ts';
import { realTiming } from './timing.ts';

/** The methods are created from the table of operations. Their types are generated from the contract. */
const WithResources = Object as unknown as new () => Resources;

/**
 * A client of one service with one API key.
 *
 * ```ts
 * const gateway = new PromptGateway({ baseUrl: 'http://127.0.0.1:8080', apiKey });
 * const { text } = await gateway.prompts.invoke('greeter', { variables: { name: 'Ada' } });
 * ```
 *
 * Calls are repeated after failures that may pass, if a repetition cannot have a second effect. Failures are thrown as
 * subclasses of `GatewayError`.
 */
export class PromptGateway extends WithResources {
  /**
   * The openapi-fetch client with every path of the contract. It sends the API key, makes one attempt without time
   * limits, and returns `{ data, error, response }` instead of throwing.
   */
  readonly raw: Client<paths>;

  /** @throws TypeError if an option is invalid, or if an API key would be used in a page */
  constructor(options: GatewayOptions) {
    super();
    const { raw, ...calls } = createSend(options, realTiming);
    this.raw = raw;
    Object.assign(this, makeResources(calls));
  }
}
