import { lazy, Suspense, type ReactNode } from 'react';
import type { CodeEditorProps } from './code-editor.tsx';
import classes from './code-editor.module.css';
import type { ContentDiffProps } from './content-diff.tsx';

const LoadedEditor = lazy(() => import('./code-editor.tsx').then(({ CodeEditor }) => ({ default: CodeEditor })));
const LoadedDiff = lazy(() => import('./content-diff.tsx').then(({ ContentDiff }) => ({ default: ContentDiff })));

/** The editor; its text stands there while the editor is being loaded. */
export function CodeEditor(props: CodeEditorProps): ReactNode {
  return (
    <Suspense fallback={<Waiting text={props.value} />}>
      <LoadedEditor {...props} />
    </Suspense>
  );
}

/** Two texts side by side with their differences; the newer one while that is being loaded. */
export function ContentDiff(props: ContentDiffProps): ReactNode {
  return (
    <Suspense fallback={<Waiting text={props.after.text} />}>
      <LoadedDiff {...props} />
    </Suspense>
  );
}

function Waiting({ text }: { text: string }): ReactNode {
  return (
    <div className={classes.frame} aria-busy>
      <div className={classes.waiting}>{text}</div>
    </div>
  );
}
