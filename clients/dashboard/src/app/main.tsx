import '@mantine/core/styles.css';
import { MantineProvider, Title } from '@mantine/core';
import { createRoot } from 'react-dom/client';

const root = document.getElementById('root');
if (root === null) throw new Error('The page has no element for the application.');

createRoot(root).render(
  <MantineProvider>
    <Title>prompt-gateway</Title>
  </MantineProvider>,
);
