import { Button, Code, Container, Stack } from '@mantine/core';
import { IconAlertTriangle, IconMapQuestion } from '@tabler/icons-react';
import type { ErrorComponentProps } from '@tanstack/react-router';
import { useEffect, useRef, type ReactNode } from 'react';
import { EmptyState } from '../shared/empty-state.tsx';
import { LinkButton } from '../shared/links.tsx';
import { Page } from '../shared/page.tsx';
import { useTexts } from '../shared/texts.tsx';
import { useReachability } from './reachability.tsx';

/** No route has the address. */
export function PageNotFound(): ReactNode {
  const texts = useTexts().shell.notFound;
  return (
    <Page title={texts.title}>
      <EmptyState icon={IconMapQuestion} text={texts.text} action={<LinkButton to="/">{texts.action}</LinkButton>} />
    </Page>
  );
}

/**
 * A screen threw while it was shown, or its script could not be loaded. If the service did not answer, the page loads
 * anew when it does again.
 */
export function PageFailed({ error }: ErrorComponentProps): ReactNode {
  const texts = useTexts().shell.failed;
  const { isError } = useReachability();
  const wasUnreachable = useRef(false);
  useEffect(() => {
    if (!isError && wasUnreachable.current) location.reload();
    wasUnreachable.current = isError;
  }, [isError]);
  return (
    <Page title={texts.title}>
      <Stack>
        <EmptyState
          icon={IconAlertTriangle}
          text={texts.text}
          action={
            <Button
              onClick={() => {
                location.reload();
              }}
            >
              {texts.action}
            </Button>
          }
        />
        <Code block>{error instanceof Error ? error.message : String(error)}</Code>
      </Stack>
    </Page>
  );
}

/** What is around the screens failed. */
export function FrameFailed(props: ErrorComponentProps): ReactNode {
  return (
    <Container component="main" py="xl">
      <PageFailed {...props} />
    </Container>
  );
}
