import { closeBrackets, closeBracketsKeymap, completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { json } from '@codemirror/lang-json';
import { bracketMatching } from '@codemirror/language';
import { EditorState, type Extension } from '@codemirror/state';
import { drawSelection, EditorView, highlightSpecialChars, keymap, placeholder } from '@codemirror/view';
import { useEffect, useLayoutEffect, useRef, type ReactNode } from 'react';
import { useTexts } from '../../../shared/texts.tsx';
import { codeLook, unchangedLineEnds } from './code-theme.ts';
import classes from './code-editor.module.css';
import { setVariables, templateLanguage } from './template-language.ts';
import type { KnownVariable, TemplateHints } from './template-marks.ts';

/** What every editor of code takes. */
interface CommonProps {
  /** Its accessible name. */
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly invalid?: boolean | undefined;
  /** Id of the element that says what is wrong, or how to fill it in. */
  readonly describedBy?: string | undefined;
  readonly placeholder?: string | undefined;
  readonly isReadOnly?: boolean | undefined;
}

/** A selection, in UTF-16 code units. */
export interface Caret {
  readonly anchor: number;
  readonly head: number;
}

export type CodeEditorProps = CommonProps &
  (
    | { readonly language: 'json' }
    | { readonly language: 'template'; readonly variables: readonly KnownVariable[]; readonly hints: TemplateHints }
  );

/** Mod-Enter is the page's: it runs the prompt. */
const editing = defaultKeymap.filter(({ key }) => key !== 'Mod-Enter');

/**
 * A text field with CodeMirror. Tab leaves it, as it leaves any other field.
 * @param caret where to go on, with the focus; undefined: the focus is elsewhere
 */
export function CodeEditor({ caret, ...props }: CodeEditorProps & { caret?: Caret | undefined }): ReactNode {
  const { label, value, onChange, invalid = false, describedBy, language } = props;
  const { codePhrases: phrases } = useTexts().prompts;
  const parent = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(undefined);
  /** The text that the editor and the page agree on. */
  const agreed = useRef(value);
  const latest = useRef({ props, onChange, phrases });
  const start = useRef(caret);
  useEffect(() => {
    latest.current = { props, onChange, phrases };
  });
  const variables = language === 'template' ? props.variables : undefined;

  useLayoutEffect(() => {
    if (parent.current === null) return;
    const first = latest.current.props;
    agreed.current = first.value;
    const editor = new EditorView({
      parent: parent.current,
      state: EditorState.create({
        doc: first.value,
        extensions: [
          codeLook(latest.current.phrases),
          unchangedLineEnds(),
          history(),
          drawSelection(),
          highlightSpecialChars(),
          EditorView.lineWrapping,
          languageOf(first),
          ...(first.placeholder === undefined ? [] : [placeholder(first.placeholder)]),
          keymap.of([...completionKeymap, ...editing, ...historyKeymap]),
          EditorState.readOnly.of(first.isReadOnly === true),
          EditorView.contentAttributes.of(() => attributesOf(latest.current.props)),
          EditorView.updateListener.of((update) => {
            if (!update.docChanged) return;
            agreed.current = update.state.doc.toString();
            latest.current.onChange(agreed.current);
          }),
        ],
      }),
    });
    view.current = editor;
    if (start.current !== undefined) {
      const { length } = editor.state.doc;
      const { anchor, head } = start.current;
      editor.dispatch({ selection: { anchor: Math.min(anchor, length), head: Math.min(head, length) } });
      editor.focus();
    }
    return () => {
      editor.destroy();
      view.current = undefined;
    };
  }, []);

  useEffect(() => {
    if (value === agreed.current || view.current === undefined) return;
    agreed.current = value;
    view.current.dispatch({ changes: { from: 0, to: view.current.state.doc.length, insert: value } });
  }, [value]);

  useEffect(() => {
    if (variables !== undefined) view.current?.dispatch({ effects: setVariables.of(variables) });
  }, [variables]);

  // An empty transaction makes the editor read its attributes again.
  useEffect(() => {
    view.current?.dispatch({});
  }, [label, invalid, describedBy]);

  return <div ref={parent} className={classes.frame} data-invalid={invalid || undefined} data-language={language} />;
}

function languageOf(props: CodeEditorProps): Extension {
  if (props.language === 'template') return templateLanguage(props.variables, props.hints);
  return [json(), bracketMatching(), closeBrackets(), keymap.of(closeBracketsKeymap)];
}

function attributesOf({ label, invalid, describedBy, isReadOnly }: CodeEditorProps): Record<string, string> {
  return {
    'aria-label': label,
    ...(invalid === true && { 'aria-invalid': 'true' }),
    ...(isReadOnly === true && { 'aria-readonly': 'true' }),
    ...(describedBy !== undefined && { 'aria-describedby': describedBy }),
  };
}
