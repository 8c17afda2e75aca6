import { useEffect, useRef, type ReactNode } from 'react';
import type { Caret, CodeEditorProps } from './code-editor.tsx';
import classes from './code-editor.module.css';
import { hintOf, marksOf, type KnownVariable, type TemplateHints } from './template-marks.ts';
import { templateRanges } from './template-ranges.ts';

/** Longer texts get no colours before they are edited. */
const longestColoured = 100_000;

/** A text in the looks of the editor, in which one can begin to type. */
export function StillEditor({
  onPoint,
  onBegin,
  ...props
}: CodeEditorProps & {
  /** The pointer is over it. */
  onPoint: () => void;
  /** Someone begins to edit. The argument finds where the caret is; undefined if it is elsewhere. */
  onBegin: (findCaret: () => Caret | undefined) => void;
}): ReactNode {
  const { value, label, language, invalid = false, isReadOnly = false } = props;
  const box = useRef<HTMLDivElement>(null);
  const typed = useRef<string>(undefined);
  const pressed = useRef<Promise<unknown>>(undefined);
  const known = language === 'template' ? props : undefined;
  // Equal variables are other objects each time.
  const variables = JSON.stringify(known?.variables);

  useEffect(() => {
    // What is typed here stands there already, and must not move under the caret.
    if (typed.current === value) return;
    box.current?.replaceChildren(...coloured(value, known));
    // oxlint-disable-next-line react/exhaustive-deps
  }, [value, variables]);

  return (
    <div className={classes.frame} data-invalid={invalid || undefined} data-language={language}>
      <div
        ref={box}
        className={classes.still}
        role="textbox"
        aria-multiline
        aria-label={label}
        aria-invalid={invalid || undefined}
        aria-readonly={isReadOnly || undefined}
        aria-describedby={props.describedBy}
        data-placeholder={props.placeholder}
        tabIndex={0}
        contentEditable={isReadOnly ? undefined : 'plaintext-only'}
        suppressContentEditableWarning
        spellCheck={false}
        onPointerEnter={onPoint}
        onPointerDown={() => {
          // The pointer may select something first.
          pressed.current = new Promise((resolve) => {
            addEventListener('pointerup', resolve, { once: true });
          });
        }}
        onFocus={() => {
          void Promise.resolve(pressed.current).then(() => {
            onBegin(() => (box.current === null ? undefined : caretIn(box.current)));
          });
        }}
        onInput={({ currentTarget }) => {
          typed.current = currentTarget.textContent;
          props.onChange(typed.current);
        }}
      />
    </div>
  );
}

/** The text with the marks of its placeholders, and what they mean. */
function coloured(
  text: string,
  known: { readonly variables: readonly KnownVariable[]; readonly hints: TemplateHints } | undefined,
): (Node | string)[] {
  if (known === undefined || text.length > longestColoured) return text === '' ? [] : [text];
  const { variables, hints } = known;
  const names = new Set(variables.flatMap(({ name, isDeclared }) => (isDeclared ? [name] : [])));
  const nodes: (Node | string)[] = [];
  let at = 0;
  for (const range of templateRanges(text)) {
    const hint = hintOf(range, variables, hints);
    for (const { from, to, name } of marksOf(range, names)) {
      if (from > at) nodes.push(text.slice(at, from));
      const span = document.createElement('span');
      span.className = name;
      span.title = hint;
      span.textContent = text.slice(from, to);
      nodes.push(span);
      at = to;
    }
  }
  if (at < text.length) nodes.push(text.slice(at));
  return nodes;
}

/** Where the selection begins and ends, in UTF-16 code units. */
function caretIn(box: HTMLElement): Caret | undefined {
  const { anchorNode, anchorOffset, focusNode, focusOffset } = getSelection() ?? {};
  if (document.activeElement !== box) return undefined;
  const before = (node: Node | null | undefined, offset = 0): number => {
    if (node === null || node === undefined || !box.contains(node)) return 0;
    const range = document.createRange();
    range.setStart(box, 0);
    range.setEnd(node, offset);
    return range.toString().length;
  };
  return { anchor: before(anchorNode, anchorOffset), head: before(focusNode, focusOffset) };
}
