import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { EditorState, type Extension } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { tags } from '@lezer/highlight';

/** The nonce that the page's policy accepts for style elements; the service writes it into the page. */
function styleNonce(): string {
  return document.querySelector<HTMLMetaElement>('meta[name="style-nonce"]')?.content ?? '';
}

/** Colours are the page's variables, so light and dark need one theme. */
const look = EditorView.theme({
  '&': {
    fontSize: 'var(--mantine-font-size-sm)',
    color: 'var(--mantine-color-text)',
    backgroundColor: 'transparent',
  },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mantine-font-family-monospace)', lineHeight: '1.6' },
  '.cm-content': { padding: '10px 0', caretColor: 'var(--mantine-color-text)' },
  '.cm-line': { padding: '0 12px' },
  '.cm-cursor, .cm-dropCursor': { borderLeftColor: 'var(--mantine-color-text)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    background: 'var(--mantine-primary-color-light-hover)',
  },
  '.cm-placeholder': { color: 'var(--mantine-color-placeholder)' },
  '.cm-gutters': {
    color: 'var(--mantine-color-dimmed)',
    backgroundColor: 'transparent',
    borderRight: '1px solid var(--mantine-color-default-border)',
  },
  '.cm-tooltip': {
    color: 'var(--mantine-color-text)',
    backgroundColor: 'var(--mantine-color-body)',
    border: '1px solid var(--mantine-color-default-border)',
    borderRadius: 'var(--mantine-radius-sm)',
    boxShadow: 'var(--mantine-shadow-md)',
    overflow: 'hidden',
    maxWidth: 'min(420px, 90vw)',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': {
    fontFamily: 'var(--mantine-font-family-monospace)',
    fontSize: 'var(--mantine-font-size-xs)',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li': { padding: '4px 10px' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]': {
    color: 'var(--mantine-primary-color-contrast)',
    background: 'var(--mantine-primary-color-filled)',
  },
  '.cm-completionDetail': {
    fontFamily: 'var(--mantine-font-family)',
    fontStyle: 'normal',
    marginLeft: '12px',
  },
  '.cm-hint': { padding: '6px 10px', fontSize: 'var(--mantine-font-size-xs)' },
  // CodeMirror's own character is in few fonts.
  '.cm-collapsedLines:before, .cm-collapsedLines:after': { content: '"⋯"' },
  '.cm-specialChar': { color: 'var(--mantine-color-error)' },
});

const colours = HighlightStyle.define([
  { tag: tags.propertyName, color: 'var(--code-name)' },
  { tag: tags.string, color: 'var(--code-string)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--code-value)' },
  { tag: tags.invalid, color: 'var(--mantine-color-error)' },
]);

/**
 * What all editors of the page share: looks, the nonce of their style elements, and the language of what they add.
 * @param phrases texts by what CodeMirror says in English
 */
export function codeLook(phrases: Readonly<Record<string, string>>): Extension {
  return [EditorState.phrases.of(phrases), EditorView.cspNonce.of(styleNonce()), look, syntaxHighlighting(colours)];
}

/** Lines end with a line feed alone; a carriage return that is stored stays what it is. */
export function unchangedLineEnds(): Extension {
  return [
    EditorState.lineSeparator.of('\n'),
    EditorView.clipboardInputFilter.of((text) => text.replace(/\r\n?/g, '\n')),
  ];
}
