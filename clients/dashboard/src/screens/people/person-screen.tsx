import { SimpleGrid, Skeleton, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { Schemas } from 'prompt-gateway-client';
import type { ReactNode } from 'react';
import { gateway } from '../../app/gateway.ts';
import { useScope } from '../../app/session-context.ts';
import { CopyableId } from '../../shared/copy.tsx';
import { FactTable } from '../../shared/fact-table.tsx';
import { ForScope } from '../../shared/for-scope.tsx';
import { TextLink } from '../../shared/links.tsx';
import { Page } from '../../shared/page.tsx';
import { ProblemAlert } from '../../shared/problem-alert.tsx';
import { useRoleNames } from '../../shared/role-names.ts';
import { Section } from '../../shared/section.tsx';
import { useOwnTexts } from '../../shared/texts.tsx';
import { Time } from '../../shared/time.tsx';
import { people } from '../../texts/people.ts';
import { PersonActions } from './person-actions.tsx';
import { PersonKeys } from './person-keys.tsx';
import { PersonStatus } from './person-status.tsx';
import { peopleKey } from './queries.ts';

const route = getRouteApi('/people/$id');

/** One person: who it is, what it may do, and the API keys that it made. */
export function PersonScreen(): ReactNode {
  const texts = useOwnTexts(people);
  return (
    <ForScope scope="people:manage" title={texts.title}>
      <PersonPage />
    </ForScope>
  );
}

function PersonPage(): ReactNode {
  const texts = useOwnTexts(people);
  const { id } = route.useParams();
  const read = useQuery({
    queryKey: [...peopleKey, id],
    queryFn: ({ signal }) => gateway.people.get(id, { signal }),
  });
  const person = read.data;
  return (
    <Page
      title={person?.name ?? id}
      badge={person && <PersonStatus disabled={person.disabled} />}
      description={<CopyableId value={id} label={texts.id} withLabel />}
      breadcrumbs={[{ label: texts.title, to: '/people' }]}
      actions={person && <PersonActions person={person} />}
    >
      {read.isError && <ProblemAlert error={read.error} onRetry={() => void read.refetch()} />}
      {person !== undefined ? (
        <Stack gap="md">
          <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="md" style={{ alignItems: 'start' }}>
            <Facts person={person} />
            <Activity id={id} />
          </SimpleGrid>
          <PersonKeys person={person} />
        </Stack>
      ) : (
        !read.isError && <Skeleton height={320} />
      )}
    </Page>
  );
}

function Facts({ person }: { person: Schemas['Person'] }): ReactNode {
  const texts = useOwnTexts(people);
  const roleNames = useRoleNames();
  const { issuer, subject, email, roles, first_sign_in_at: first, last_sign_in_at: last } = person;
  return (
    <Section title={texts.facts}>
      <FactTable
        facts={[
          email !== undefined && { label: texts.columns.email, value: email },
          { label: texts.columns.roles, value: roleNames(roles) },
          { label: texts.columns.first, value: <Time value={first} /> },
          { label: texts.columns.last, value: <Time value={last} /> },
          { label: texts.issuer, value: issuer },
          { label: texts.subject, value: <CopyableId value={subject} label={texts.subject} /> },
        ]}
      />
    </Section>
  );
}

/** Links to the lists of what a person did, which find the person by id. */
function Activity({ id }: { id: string }): ReactNode {
  const texts = useOwnTexts(people);
  const canReadAudit = useScope('audit:read');
  const canReadInvocations = useScope('invocations:read');
  if (!canReadAudit && !canReadInvocations) return null;
  return (
    <Section title={texts.activity}>
      {canReadAudit && (
        <TextLink to="/audit-log" search={{ author_id: id }} size="sm">
          {texts.changes}
        </TextLink>
      )}
      {canReadInvocations && (
        <TextLink to="/invocations" search={{ author_id: id }} size="sm">
          {texts.invocations}
        </TextLink>
      )}
    </Section>
  );
}
