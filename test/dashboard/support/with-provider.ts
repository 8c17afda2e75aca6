import { startMockProvider, type MockProvider } from '../../support/mock-provider.ts';
import { startTestService, type TestService, type TestServiceOptions } from '../../support/service.ts';

/** Starts a service whose provider `openai` is a mock. Closing the service closes both. */
export async function startWithProvider(
  options: TestServiceOptions = {},
): Promise<{ service: TestService; provider: MockProvider }> {
  const provider = await startMockProvider();
  const environment = { OPENAI_API_KEY: 'sk-test', OPENAI_BASE_URL: `${provider.url}/v1` };
  const service = await startTestService({ ...options, environment });
  return {
    provider,
    service: {
      ...service,
      async close() {
        await service.close();
        await provider.close();
      },
    },
  };
}
