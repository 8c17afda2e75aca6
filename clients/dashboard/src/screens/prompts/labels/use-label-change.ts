import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { PreconditionFailedError, type Schemas } from 'prompt-gateway-client';
import { useState } from 'react';
import type { Versioned } from '../../../shared/versioned.ts';
import { promptKeys, readLabel } from '../prompt-queries.ts';

type Label = Versioned<Schemas['Label']>;

/** Creating, moving or deleting a label: on what state it is decided, and what came of it. */
export interface LabelChange<Sent = void> {
  /** The label that the person sees and decides about; `undefined` if there is none of this name. */
  readonly current: Label | undefined;
  /** Whether someone else changed the label while the person decided. `current` is what it became. */
  readonly isOvertaken: boolean;
  readonly isReading: boolean;
  readonly isPending: boolean;
  readonly error: unknown;
  readonly submit: (sent: Sent) => void;
}

/**
 * Changes a label as the person sees it: a change by someone else in between changes nothing, and is shown instead.
 *
 * @param options.isListed whether the prompt has this label, as far as the page knows
 * @param options.send sends the change with the `ETag` of `current`, and what `submit` was given
 */
export function useLabelChange<Sent = void>({
  promptId,
  name,
  isListed,
  send,
  onDone,
}: {
  promptId: string;
  name: string;
  isListed: boolean;
  send: (current: Label | undefined, sent: Sent) => Promise<unknown>;
  onDone: () => void;
}): LabelChange<Sent> {
  const queryClient = useQueryClient();
  const [overtaken, setOvertaken] = useState<{ name: string; by: Label | undefined }>();
  // It must not change by itself while the person reads it.
  const label = useQuery({
    queryKey: [...promptKeys.label(promptId, name), 'to-change'],
    queryFn: async ({ signal }) => (await readLabel(promptId, name, { signal })) ?? null,
    enabled: isListed,
    staleTime: Infinity,
    gcTime: 0,
  });
  const isOvertaken = overtaken?.name === name;
  const current = isOvertaken ? overtaken.by : (label.data ?? undefined);

  const change = useMutation({
    mutationFn: async (sent: Sent) => {
      try {
        await send(current, sent);
        return undefined;
      } catch (error) {
        if (!(error instanceof PreconditionFailedError)) throw error;
        return { name, by: await readLabel(promptId, name) };
      }
    },
    onSuccess: (met) => {
      setOvertaken(met);
      if (met === undefined) onDone();
    },
    onSettled: () => {
      void queryClient.invalidateQueries({
        queryKey: promptKeys.labels(promptId),
        predicate: ({ queryKey }) => queryKey.at(-1) !== 'to-change',
      });
      void queryClient.invalidateQueries({ queryKey: promptKeys.prompt(promptId) });
    },
  });
  return {
    current,
    isOvertaken,
    isReading: isListed && !isOvertaken && label.isPending,
    isPending: change.isPending,
    error: change.error ?? label.error,
    submit: change.mutate,
  };
}
