import { MergeView, unifiedMergeView } from '@codemirror/merge';
import { EditorState, type Extension } from '@codemirror/state';
import { EditorView, highlightSpecialChars } from '@codemirror/view';
import { useMediaQuery } from '@mantine/hooks';
import { useEffect, useRef, type ReactNode } from 'react';
import { useTexts } from '../../../shared/texts.tsx';
import { codeLook, unchangedLineEnds } from './code-theme.ts';
import classes from './content-diff.module.css';

interface DiffSide {
  /** Its accessible name. */
  readonly label: string;
  readonly text: string;
}

export interface ContentDiffProps {
  readonly before: DiffSide;
  readonly after: DiffSide;
  /** Whether long parts that are the same are folded. */
  readonly isFolded: boolean;
}

/** Two texts with their differences: side by side, or one below the other where the page is narrow. */
export function ContentDiff({ before, after, isFolded }: ContentDiffProps): ReactNode {
  const { codePhrases: phrases } = useTexts().prompts;
  const parent = useRef<HTMLDivElement>(null);
  const isWide = useMediaQuery('(min-width: 48em)', true);
  const { label: labelBefore, text: textBefore } = before;
  const { label: labelAfter, text: textAfter } = after;

  useEffect(() => {
    if (parent.current === null) return;
    const collapse = isFolded ? { collapseUnchanged: { margin: 3, minSize: 6 } } : {};
    if (isWide) {
      const view = new MergeView({
        parent: parent.current,
        a: { doc: textBefore, extensions: reading(labelBefore, phrases) },
        b: { doc: textAfter, extensions: reading(labelAfter, phrases) },
        gutter: true,
        ...collapse,
      });
      return () => {
        view.destroy();
      };
    }
    const view = new EditorView({
      parent: parent.current,
      doc: textAfter,
      extensions: [
        reading(`${labelBefore}, ${labelAfter}`, phrases),
        unifiedMergeView({ original: textBefore, mergeControls: false, ...collapse }),
      ],
    });
    return () => {
      view.destroy();
    };
  }, [textBefore, textAfter, labelBefore, labelAfter, phrases, isWide, isFolded]);

  return (
    <div className={classes.frame}>
      {isWide && (
        <div className={classes.heads} aria-hidden>
          <span>{labelBefore}</span>
          <span>{labelAfter}</span>
        </div>
      )}
      <div ref={parent} className={classes.views} />
    </div>
  );
}

/** An editor that only shows. It takes the focus, so that it can be scrolled by keyboard. */
function reading(label: string, phrases: Readonly<Record<string, string>>): Extension {
  return [
    codeLook(phrases),
    unchangedLineEnds(),
    highlightSpecialChars(),
    EditorView.lineWrapping,
    EditorState.readOnly.of(true),
    EditorView.editable.of(false),
    EditorView.contentAttributes.of({
      role: 'textbox',
      'aria-multiline': 'true',
      'aria-readonly': 'true',
      'aria-label': label,
      tabindex: '0',
    }),
  ];
}
