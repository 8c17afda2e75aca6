import { ActionIcon, Badge, Menu, Skeleton, Stack } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconCopy, IconDots, IconTrash } from '@tabler/icons-react';
import { useIsMutating, useQueryClient } from '@tanstack/react-query';
import { Outlet, useNavigate, useParams, type NavigateOptions } from '@tanstack/react-router';
import { useEffect, type ReactNode } from 'react';
import { useScope } from '../../../app/session-context.ts';
import { CopyableId } from '../../../shared/copy.tsx';
import { Page } from '../../../shared/page.tsx';
import { ProblemAlert } from '../../../shared/problem-alert.tsx';
import { StatusBadge } from '../../../shared/status-badge.tsx';
import { useTexts } from '../../../shared/texts.tsx';
import { UnsavedChanges } from '../../../shared/unsaved-changes.tsx';
import { LabelBadges } from '../labels/label-badges.tsx';
import { promptKeys, usePrompt, type StoredPrompt } from '../prompt-queries.ts';
import { DeletePromptDialog } from './delete-prompt-dialog.tsx';
import { PromptTabs } from './prompt-tabs.tsx';
import { useWorkspaceState } from './use-workspace-state.ts';
import { WorkspaceContext } from './workspace-context.ts';

/** One prompt: its heading, its tabs, and what is typed for it while one goes from tab to tab. */
export function PromptScreen(): ReactNode {
  const { promptId } = useParams({ strict: false });
  const { prompts } = useTexts();
  const id = promptId ?? '';
  const { data, error, refetch } = usePrompt(id);
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const realId = data?.data.id;

  // A slug in the address can be changed by an edit; an id cannot.
  useEffect(() => {
    if (data === undefined || realId === undefined || realId === id) return;
    queryClient.setQueryData(promptKeys.prompt(realId), data);
    // Within the same tab.
    void navigate({
      to: '.',
      params: (current: object) => ({ ...current, promptId: realId }),
      search: true,
      replace: true,
    } as NavigateOptions);
  }, [data, realId, id, queryClient, navigate]);

  if (data !== undefined) return <LoadedPrompt key={data.data.id} stored={data} error={error} />;
  return (
    <Page title={prompts.title} breadcrumbs={[{ to: '/prompts', label: prompts.list.title }]}>
      {error === null ? (
        <Stack>
          <Skeleton h={36} />
          <Skeleton h={120} />
          <Skeleton h={240} />
        </Stack>
      ) : (
        <ProblemAlert
          error={error}
          onRetry={() => {
            void refetch();
          }}
        />
      )}
    </Page>
  );
}

function LoadedPrompt({ stored, error }: { stored: StoredPrompt; error: unknown }): ReactNode {
  const { prompts } = useTexts();
  const texts = prompts.workspace;
  const canWrite = useScope('prompts:write');
  const workspace = useWorkspaceState(stored);
  const navigate = useNavigate();
  const [isDeleting, deletion] = useDisclosure(false);
  const isBeingDeleted = useIsMutating({ mutationKey: promptKeys.deletion(stored.data.id) }) > 0;
  const { isDirty } = workspace;
  const { id, name, slug, version, labels = {} } = stored.data;
  return (
    <WorkspaceContext value={workspace}>
      <Page
        title={name}
        breadcrumbs={[{ to: '/prompts', label: prompts.list.title }]}
        badge={
          <>
            <Badge variant="default" tt="none" radius="sm">
              {texts.version(version)}
            </Badge>
            <LabelBadges promptId={id} labels={labels} />
            {isDirty && <StatusBadge tone="warning">{texts.unsaved}</StatusBadge>}
          </>
        }
        description={<CopyableId value={slug} label={texts.slug} />}
        actions={
          canWrite && (
            <Menu position="bottom-end">
              <Menu.Target>
                <ActionIcon variant="default" size="lg" aria-label={texts.more}>
                  <IconDots size={18} />
                </ActionIcon>
              </Menu.Target>
              <Menu.Dropdown>
                <Menu.Item
                  leftSection={<IconCopy size={16} />}
                  onClick={() => {
                    void navigate({ to: '/prompts/new', search: { from: id } });
                  }}
                >
                  {texts.duplicate}
                </Menu.Item>
                <Menu.Item color="red" leftSection={<IconTrash size={16} />} onClick={deletion.open}>
                  {texts.delete}
                </Menu.Item>
              </Menu.Dropdown>
            </Menu>
          )
        }
      >
        {error !== null && <ProblemAlert error={error} />}
        <PromptTabs promptId={id} />
        {/* What it reads would be missing. */}
        {!isBeingDeleted && <Outlet />}
        <DeletePromptDialog prompt={stored.data} isOpen={isDeleting} onClose={deletion.close} />
        <UnsavedChanges isDirty={() => isDirty} within={`/prompts/${id}`} />
      </Page>
    </WorkspaceContext>
  );
}
