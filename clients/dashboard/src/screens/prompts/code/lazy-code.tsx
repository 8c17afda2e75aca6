import { lazy, Suspense, useRef, useState, type ReactNode } from 'react';
import { flushSync } from 'react-dom';
import type { Caret, CodeEditorProps } from './code-editor.tsx';
import classes from './code-editor.module.css';
import type { ContentDiffProps } from './content-diff.tsx';
import { StillEditor } from './still-editor.tsx';

const loadEditor = () => import('./code-editor.tsx');
const LoadedDiff = lazy(() => import('./content-diff.tsx').then(({ ContentDiff }) => ({ default: ContentDiff })));

type Loaded = Pick<Awaited<ReturnType<typeof loadEditor>>, 'CodeEditor'> & { readonly caret: Caret | undefined };

/**
 * The editor. It is large, and most texts are only read, so it is loaded when someone begins to edit; until then its
 * text can be edited as a plain one.
 */
export function CodeEditor(props: CodeEditorProps): ReactNode {
  const [loaded, setLoaded] = useState<Loaded>();
  const isLoading = useRef(false);
  if (loaded !== undefined) return <loaded.CodeEditor {...props} caret={loaded.caret} />;
  return (
    <StillEditor
      {...props}
      onPoint={() => {
        loadEditor().catch(() => undefined);
      }}
      onBegin={(findCaret) => {
        if (isLoading.current) return;
        isLoading.current = true;
        loadEditor().then(
          ({ CodeEditor: Editor }) => {
            // At once, so that no key is lost between the two.
            flushSync(() => {
              setLoaded({ CodeEditor: Editor, caret: findCaret() });
            });
          },
          () => {
            // The service does not answer now. The text stays a plain one, until someone begins again.
            isLoading.current = false;
          },
        );
      }}
    />
  );
}

/** Two texts side by side with their differences; the newer one while that is being loaded. */
export function ContentDiff(props: ContentDiffProps): ReactNode {
  return (
    <Suspense
      fallback={
        <div className={classes.frame} aria-busy>
          <div className={classes.still}>{props.after.text}</div>
        </div>
      }
    >
      <LoadedDiff {...props} />
    </Suspense>
  );
}
