import { afterAll, beforeAll } from '@jest/globals';
import { providerKey } from '../invoke/invoke-harness.ts';
import { startMockProvider, type MockProvider } from '../../support/mock-provider.ts';
import { startTestService, type TestService } from '../../support/service.ts';

/** A model of Anthropic. */
export const name = 'claude-sonnet-4-5';

export interface AnthropicSetup {
  mock: MockProvider;
  service: TestService;
}

/**
 * A service of the test file that calls one mock provider twice: as `anthropic`, which gets requests as they were
 * written, and as `mock`, which gets them in the form of OpenAI.
 */
export function setUpAnthropic(environment: Readonly<Record<string, string>> = {}): AnthropicSetup {
  const setup = {} as AnthropicSetup;
  beforeAll(async () => {
    setup.mock = await startMockProvider();
    const { url } = setup.mock;
    const mock = { id: 'mock', base_url: url, models: ['model-a'] };
    const providers = { ANTHROPIC_API_KEY: providerKey, ANTHROPIC_BASE_URL: url };
    setup.service = await startTestService({
      environment: { ...providers, OPENAI_COMPATIBLE_PROVIDERS: JSON.stringify([mock]), ...environment },
    });
  });
  afterAll(async () => {
    await setup.service.close();
    await setup.mock.close();
  });
  return setup;
}
