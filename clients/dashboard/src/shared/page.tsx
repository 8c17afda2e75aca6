import { Anchor, Breadcrumbs, Group, Stack, Text, Title } from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import { Link, type LinkProps } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useTexts } from './texts.tsx';

/** A page above this one. */
export type Crumb = Pick<LinkProps, 'to' | 'params'> & { label: string };

/** What is the same on every screen: heading, title of the window, actions, and the way back. */
export interface PageProps {
  title: string;
  /** Shown beside the title, such as a status. */
  badge?: ReactNode;
  description?: ReactNode;
  /** Buttons, at the right of the heading. */
  actions?: ReactNode;
  /** The pages above this one, the highest first. */
  breadcrumbs?: readonly Crumb[];
  children: ReactNode;
}

/** A screen. Every screen is one `Page`. */
export function Page({ title, badge, description, actions, breadcrumbs = [], children }: PageProps): ReactNode {
  const { shell, shared } = useTexts();
  useDocumentTitle(`${title} · ${shell.product}`);
  return (
    <Stack gap="lg">
      <Stack gap={4}>
        {breadcrumbs.length > 0 && (
          <nav aria-label={shared.breadcrumbs}>
            <Breadcrumbs separatorMargin={6}>
              {breadcrumbs.map(({ label, ...link }) => (
                <Anchor key={label} size="sm" c="dimmed" renderRoot={(props) => <Link {...props} {...link} />}>
                  {label}
                </Anchor>
              ))}
            </Breadcrumbs>
          </nav>
        )}
        <Group justify="space-between" align="flex-start" gap="sm">
          <Group gap="sm" miw={0} flex="1 1 200px">
            <Title order={1} tabIndex={-1} style={{ overflowWrap: 'anywhere' }}>
              {title}
            </Title>
            {badge}
          </Group>
          {actions !== undefined && <Group gap="xs">{actions}</Group>}
        </Group>
        {description !== undefined && (
          <Text c="dimmed" maw={720} component="div">
            {description}
          </Text>
        )}
      </Stack>
      {children}
    </Stack>
  );
}
