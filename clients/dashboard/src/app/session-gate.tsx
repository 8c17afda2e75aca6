import { Button, Center, Group, Loader, Modal, Paper, Stack, Text, Title } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useQuery, useQueryClient, type QueryClient } from '@tanstack/react-query';
import { AuthenticationError } from 'prompt-gateway-client';
import { useCallback, useEffect, useEffectEvent, useMemo, useState, type ReactNode } from 'react';
import { describeError, ProblemAlert } from '../shared/problem-alert.tsx';
import { useTexts } from '../shared/texts.tsx';
import { basePath, gateway } from './gateway.ts';
import { Product } from './product.tsx';
import { every } from './query-client.ts';
import { deleteSession, onSessionElsewhere, type CurrentKey, type OpenedSession } from './session.ts';
import { SessionContext } from './session-context.ts';
import { SignInForm } from './sign-in-form.tsx';

/** Shows the page to someone who is signed in, else the sign-in page. */
export function SessionGate({ opened, children }: { opened: OpenedSession; children: ReactNode }): ReactNode {
  const { session: texts } = useTexts();
  const [key, setKey] = useState(opened.status === 'signed-in' ? opened.key : undefined);
  const signOut = useSignOut();
  const session = useMemo(() => (key === undefined ? undefined : { key, signOut }), [key, signOut]);
  const queryClient = useQueryClient();

  useEffect(
    () =>
      onSessionElsewhere((change) => {
        if (change === 'signed-out') setKey(undefined);
      }),
    [],
  );
  useEffect(() => {
    if (key === undefined) queryClient.clear();
  }, [key, queryClient]);

  if (session !== undefined) {
    return (
      <SessionContext value={session}>
        {children}
        <LostSession currentKey={session.key} onSignedIn={setKey} />
      </SessionContext>
    );
  }
  return (
    <Center component="main" mih="100dvh" p="md">
      <Paper withBorder p="xl" w="100%" maw={420} shadow="xs">
        <Stack gap="lg">
          <Product />
          <Stack gap={4}>
            <Title order={1} size="h2">
              {texts.title}
            </Title>
            <Text c="dimmed">{texts.explanation}</Text>
          </Stack>
          {opened.status === 'failed' && <ProblemAlert error={opened.error} onRetry={reload} />}
          <SignInForm
            onSignedIn={setKey}
            notice={opened.status === 'signed-out' && opened.isLinkRefused === true ? texts.linkRefused : undefined}
          />
        </Stack>
      </Paper>
    </Center>
  );
}

/** What is shown while the page finds out who is signed in. */
export function SessionPending(): ReactNode {
  const { session: texts } = useTexts();
  return (
    <Center mih="100dvh" role="status" aria-label={texts.checking}>
      <Loader type="dots" />
    </Center>
  );
}

/** Asks to sign in again, over the page, as soon as any call is refused. The page below keeps everything typed. */
function LostSession({
  currentKey,
  onSignedIn,
}: {
  currentKey: CurrentKey;
  onSignedIn: (key: CurrentKey) => void;
}): ReactNode {
  const { session: texts } = useTexts();
  const signOut = useSignOut();
  const queryClient = useQueryClient();
  const [isLost, setIsLost] = useState(false);
  // A page with a form reads nothing while someone types. Without anyone there, this must not keep the session alive.
  useQuery({
    queryKey: ['session'],
    queryFn: ({ signal }) => gateway.apiKeys.getCurrent({ signal }),
    initialData: currentKey,
    ...every(6_000, false),
  });

  useEffect(
    () =>
      onRefusedCall(queryClient, () => {
        setIsLost(true);
      }),
    [queryClient],
  );

  const signedIn = (key: CurrentKey): void => {
    setIsLost(false);
    onSignedIn(key);
    // What another key has read and the page does not show is not for this one.
    if (key.id !== currentKey.id) queryClient.removeQueries({ type: 'inactive' });
    void queryClient.invalidateQueries();
  };
  const takeOver = useEffectEvent(() => {
    void gateway.apiKeys.getCurrent().then(signedIn, () => undefined);
  });
  useEffect(() => {
    if (!isLost) return undefined;
    return onSessionElsewhere((change) => {
      if (change === 'signed-in') takeOver();
    });
  }, [isLost]);

  return (
    <Modal
      opened={isLost}
      onClose={() => undefined}
      withCloseButton={false}
      closeOnEscape={false}
      closeOnClickOutside={false}
      title={texts.expiredTitle}
      zIndex={1_000}
    >
      <Stack>
        <Text>{texts.expired}</Text>
        <SignInForm isOverPage onSignedIn={signedIn} />
        <Group justify="center">
          <Button variant="subtle" size="compact-sm" onClick={signOut}>
            {texts.signOutInstead}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}

/** Calls back when a query or a mutation is refused because there is no session any more. */
function onRefusedCall(queryClient: QueryClient, refused: () => void): () => void {
  const check = (event: { type: string; action?: { type: string; error?: unknown } }): void => {
    if (event.type !== 'updated' || event.action?.type !== 'error') return;
    if (event.action.error instanceof AuthenticationError) refused();
  };
  const stops = [
    queryClient.getQueryCache().subscribe(check),
    queryClient.getMutationCache().subscribe(check as Parameters<MutationSubscribe>[0]),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}

type MutationSubscribe = ReturnType<QueryClient['getMutationCache']>['subscribe'];

/** Ends the session, or says why it goes on. Nothing that was read stays in the memory of the page. */
function useSignOut(): () => void {
  const { shared } = useTexts();
  return useCallback(() => {
    const leave = (next?: string): void => {
      location.assign(next ?? `${basePath}/`);
    };
    deleteSession().then(leave, (error: unknown) => {
      if (error instanceof AuthenticationError) {
        leave();
        return;
      }
      const { title, detail } = describeError(error, shared);
      const closeButtonProps = { 'aria-label': shared.close };
      notifications.show({ title, message: detail, color: 'red', role: 'alert', autoClose: false, closeButtonProps });
    });
  }, [shared]);
}

function reload(): void {
  location.reload();
}
