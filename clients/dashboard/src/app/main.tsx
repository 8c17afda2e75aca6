import '@mantine/core/styles.css';
import '@mantine/notifications/styles.css';
import './global.css';
import { MantineProvider } from '@mantine/core';
import { Notifications } from '@mantine/notifications';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { NowProvider } from '../shared/now.tsx';
import { LanguageProvider } from '../shared/texts.tsx';
import { createQueryClient } from './query-client.ts';
import { router } from './router.tsx';
import { openSession, takeSignInToken } from './session.ts';
import { SessionGate } from './session-gate.tsx';
import { cssVariablesResolver, theme } from './theme.ts';

const root = document.getElementById('root');
if (root === null) throw new Error('The page has no element for the application.');

// Both at once, and before anything is drawn: React keeps a placeholder for 0.3 seconds once it has shown it.
const [opened] = await Promise.all([openSession(takeSignInToken()), router.load()]);
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
            <SessionGate opened={opened}>
              <RouterProvider router={router} />
            </SessionGate>
          </NowProvider>
        </QueryClientProvider>
      </LanguageProvider>
    </MantineProvider>
  </StrictMode>,
);
