import type { UseFormReturnType } from '@mantine/form';
import { useMutation } from '@tanstack/react-query';
import { PreconditionFailedError } from 'prompt-gateway-client';
import { useState, type ReactNode } from 'react';
import { ConflictDialog, type Conflict } from './conflict-dialog.tsx';
import { showMistakes } from './form-problem.ts';
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
 * Saves a form with `If-Match`. Mistakes are shown at the fields. If the resource has changed meanwhile, a dialog shows
 * both versions: “Keep mine” sends the form for the new version, “Take theirs” fills the form with it. The form keeps
 * what was typed until one of them is chosen.
 */
export function useSave<Fields extends Record<string, unknown>, Data>(
  options: SaveOptions<Fields, Data>,
): Save<Fields> {
  const { form, send, reload, toFields, labels, toField, onSaved } = options;
  const [base, setBase] = useState(options.initial);
  const [conflict, setConflict] = useState<Conflict<Fields> & { current: Versioned<Data> }>();

  const mutation = useMutation({
    mutationFn: async ({ fields, etag }: { fields: Fields; etag: string | undefined }) => {
      try {
        return { saved: await send(fields, etag) };
      } catch (error) {
        if (!(error instanceof PreconditionFailedError)) throw error;
        return { current: await reload() };
      }
    },
    onSuccess: ({ saved, current }, { fields }) => {
      if (saved === undefined) {
        setConflict({ mine: fields, theirs: toFields(current.data), current });
        return;
      }
      setConflict(undefined);
      startFrom(saved);
      onSaved(saved);
    },
    onError: (error) => {
      showMistakes(form, error, toField);
    },
  });

  const startFrom = (version: Versioned<Data>): void => {
    const fields = toFields(version.data);
    setBase(version);
    form.setValues(fields);
    form.resetDirty(fields);
  };

  return {
    save: (fields) => {
      mutation.mutate({ fields, etag: base.etag });
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
          if (conflict !== undefined) mutation.mutate({ fields: conflict.mine, etag: conflict.current.etag });
        }}
        onTakeTheirs={() => {
          if (conflict !== undefined) startFrom(conflict.current);
          setConflict(undefined);
        }}
        onClose={() => {
          setConflict(undefined);
        }}
      />
    ),
  };
}
