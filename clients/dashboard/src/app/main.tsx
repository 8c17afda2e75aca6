import { opening } from './opening.ts';
import '@mantine/core/styles.css';
import '@mantine/notifications/styles.css';
import './global.css';
import { MantineProvider } from '@mantine/core';
import { Notifications } from '@mantine/notifications';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode, type ReactNode } from 'react';
import { createRoot } from 'react-dom/client';
import { NowProvider } from '../shared/now.tsx';
import { LanguageProvider } from '../shared/texts.tsx';
import { queryClient } from './query-client.ts';
import { router } from './router.tsx';
import { SessionGate, SessionPending } from './session-gate.tsx';
import { cssVariablesResolver, theme } from './theme.ts';

const element = document.getElementById('root');
if (element === null) throw new Error('The page has no element for the application.');
const root = createRoot(element);

const nonce = document.querySelector('meta[name="style-nonce"]')?.getAttribute('content') ?? '';

// Where the library that locks scrolling below a dialog looks for the nonce of its style element.
Object.assign(globalThis, { __webpack_nonce__: nonce });

// Without Suspense: React would keep its placeholder for 0.3 seconds.
render(<SessionPending />);
void Promise.all([opening, router.load()]).then(([opened]) => {
  render(
    <SessionGate opened={opened}>
      <RouterProvider router={router} />
    </SessionGate>,
  );
});

function render(content: ReactNode): void {
  root.render(
    <StrictMode>
      <MantineProvider
        theme={theme}
        cssVariablesResolver={cssVariablesResolver}
        defaultColorScheme="auto"
        getStyleNonce={() => nonce}
      >
        <LanguageProvider>
          <QueryClientProvider client={queryClient}>
            <NowProvider>
              <Notifications position="bottom-right" />
              {content}
            </NowProvider>
          </QueryClientProvider>
        </LanguageProvider>
      </MantineProvider>
    </StrictMode>,
  );
}
