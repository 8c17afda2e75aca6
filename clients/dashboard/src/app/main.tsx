import '@mantine/core/styles.css';
import '@mantine/notifications/styles.css';
import './global.css';
import { MantineProvider } from '@mantine/core';
import { Notifications } from '@mantine/notifications';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode, Suspense } from 'react';
import { createRoot } from 'react-dom/client';
import { NowProvider } from '../shared/now.tsx';
import { LanguageProvider } from '../shared/texts.tsx';
import { createQueryClient } from './query-client.ts';
import { router } from './router.tsx';
import { openSession, takeSignInToken } from './session.ts';
import { SessionGate, SessionPending } from './session-gate.tsx';
import { cssVariablesResolver, theme } from './theme.ts';

const root = document.getElementById('root');
if (root === null) throw new Error('The page has no element for the application.');

const opened = openSession(takeSignInToken());
const queryClient = createQueryClient();
const nonce = document.querySelector('meta[name="style-nonce"]')?.getAttribute('content') ?? '';

// Where the library that locks scrolling below a dialog looks for the nonce of its style element.
Object.assign(globalThis, { __webpack_nonce__: nonce });

createRoot(root).render(
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
            <Suspense fallback={<SessionPending />}>
              <SessionGate opened={opened}>
                <RouterProvider router={router} />
              </SessionGate>
            </Suspense>
          </NowProvider>
        </QueryClientProvider>
      </LanguageProvider>
    </MantineProvider>
  </StrictMode>,
);
