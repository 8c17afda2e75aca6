import type { UseFormReturnType } from '@mantine/form';
import { useMutation } from '@tanstack/react-query';
import { PreconditionFailedError } from 'prompt-gateway-client';
import { useState, type ReactNode } from 'react';
import { ConflictDialog, type Conflict } from './conflict-dialog.tsx';
import { showMistakes } from './form-problem.ts';
import { isSameJson, merge } from './merge.ts';
import { useNotify } from './notify.ts';
import { useTexts } from './texts.tsx';
import type { Versioned } from './versioned.ts';

/** How a form is saved. */
export interface SaveOptions<Fields extends Record<string, unknown>, Data> {
  form: UseFormReturnType<Fields>;
  /** The resource as the form got it. */
  initial: Versioned<Data>;
  /** Sends the change: `(fields, ifMatch) => versioned(gateway.products.update(id, fields, { ifMatch }))`. */
  send: (fields: Fields, ifMatch: string | undefined) => Promise<Versioned<Data>>;
  /** Reads the current version: `() => versioned(gateway.products.get(id))`. */
  reload: () => Promise<Versioned<Data>>;
  /** The fields of the form with the values of the resource. */
  toFields: (data: Data) => Fields;
  /** Names of the fields, for the comparison of two versions. */
  labels: Readonly<Record<keyof Fields, string>>;
  /** Name of the field for a place in the request (`tags.0`), where they differ. */
  toField?: (place: string) => string;
  onSaved: (saved: Versioned<Data>) => void;
}

/** What a form needs to save. */
export interface Save<Fields> {
  save: (fields: Fields) => void;
  isSaving: boolean;
  /** Why saving failed, for a `ProblemAlert`. */
  error: unknown;
  /** The dialog about a version that changed meanwhile. It stands anywhere in the form. */
  dialog: ReactNode;
}

/**
 * Saves a form with `If-Match`. Mistakes are shown at the fields. If the resource has changed meanwhile, the changes of
 * both sides are merged by field, and saved. Only if both changed the same field, a dialog shows it: “Keep mine” saves
 * the form, “Take theirs” puts their value into it. The form keeps what was typed until one of them is chosen.
 */
export function useSave<Fields extends Record<string, unknown>, Data>(
  options: SaveOptions<Fields, Data>,
): Save<Fields> {
  const { form, send, reload, toFields, labels, toField, onSaved } = options;
  const { conflict: texts } = useTexts().shared;
  const notify = useNotify();
  const [base, setBase] = useState(options.initial);
  const [conflict, setConflict] = useState<Conflict<Fields> & { current: Versioned<Data> }>();

  const mutation = useMutation({
    mutationFn: async ({ fields, on }: { fields: Fields; on: Versioned<Data> }) => {
      let wanted = fields;
      let target = on;
      for (;;) {
        try {
          return { saved: await send(wanted, target.etag), isMerged: target !== on };
        } catch (error) {
          if (!(error instanceof PreconditionFailedError)) throw error;
        }
        const current = await reload();
        const merged = merge(toFields(target.data), wanted, toFields(current.data));
        if (!isSameJson(merged.mine, merged.theirs)) return { met: { ...merged, current } };
        [wanted, target] = [merged.mine, current];
      }
    },
    onSuccess: ({ saved, isMerged, met }) => {
      setConflict(met);
      if (saved === undefined) return;
      startFrom(saved, toFields(saved.data));
      if (isMerged) notify(texts.merged);
      onSaved(saved);
    },
    onError: (error) => {
      showMistakes(form, error, toField);
    },
  });

  const startFrom = (version: Versioned<Data>, fields: Fields): void => {
    setBase(version);
    form.setValues(fields);
    form.resetDirty(toFields(version.data));
  };

  return {
    save: (fields) => {
      mutation.mutate({ fields, on: base });
    },
    isSaving: mutation.isPending,
    error: conflict === undefined ? mutation.error : undefined,
    dialog: (
      <ConflictDialog
        conflict={conflict}
        labels={labels}
        isPending={mutation.isPending}
        error={mutation.error}
        onKeepMine={() => {
          if (conflict !== undefined) mutation.mutate({ fields: conflict.mine, on: conflict.current });
        }}
        onTakeTheirs={() => {
          if (conflict !== undefined) startFrom(conflict.current, conflict.theirs);
          setConflict(undefined);
        }}
        onClose={() => {
          setConflict(undefined);
        }}
      />
    ),
  };
}
