import {
  autocompletion,
  type Completion,
  type CompletionContext,
  type CompletionResult,
} from '@codemirror/autocomplete';
import { StateEffect, StateField, type EditorState, type Extension, type Range } from '@codemirror/state';
import {
  Decoration,
  hoverTooltip,
  ViewPlugin,
  type DecorationSet,
  type EditorView,
  type ViewUpdate,
} from '@codemirror/view';
import { hintOf, marksOf, type KnownVariable, type TemplateHints } from './template-marks.ts';
import { templateRanges, type TemplateRange } from './template-ranges.ts';

/** Gives an editor other variables. */
export const setVariables = StateEffect.define<readonly KnownVariable[]>();

const variablesField = StateField.define<readonly KnownVariable[]>({
  create: () => [],
  update(variables, transaction) {
    for (const effect of transaction.effects) if (effect.is(setVariables)) return effect.value;
    return variables;
  },
});

/** The ranges of the document; computed once for each of its states. */
const rangesField = StateField.define<readonly TemplateRange[]>({
  create: (state) => templateRanges(state.doc.toString()),
  update: (ranges, { docChanged, state }) => (docChanged ? templateRanges(state.doc.toString()) : ranges),
});

function declaredNames(state: EditorState): Set<string> {
  return new Set(state.field(variablesField).flatMap(({ name, isDeclared }) => (isDeclared ? [name] : [])));
}

/** Marks what is in view; a template of a megabyte has many ranges. */
function decorate(view: EditorView): DecorationSet {
  const declared = declaredNames(view.state);
  const ranges = view.state.field(rangesField);
  const found: Range<Decoration>[] = [];
  for (const visible of view.visibleRanges) {
    for (let index = firstEndingAfter(ranges, visible.from); index < ranges.length; index += 1) {
      const range = ranges[index];
      if (range === undefined || range.from > visible.to) break;
      found.push(...decorationsOf(range, declared));
    }
  }
  return Decoration.set(found, true);
}

function decorationsOf(range: TemplateRange, declared: ReadonlySet<string>): Range<Decoration>[] {
  return marksOf(range, declared).map(({ from, to, name }) => Decoration.mark({ class: name }).range(from, to));
}

/** Index of the first range that ends after this position; ranges are sorted and do not overlap. */
function firstEndingAfter(ranges: readonly TemplateRange[], position: number): number {
  let [low, high] = [0, ranges.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ranges[middle]?.to ?? 0) <= position) low = middle + 1;
    else high = middle;
  }
  return low;
}

const highlighting = ViewPlugin.fromClass(
  class {
    decorations: DecorationSet;
    constructor(view: EditorView) {
      this.decorations = decorate(view);
    }
    update(update: ViewUpdate): void {
      const { docChanged, viewportChanged, startState, state, view } = update;
      const variablesChanged = startState.field(variablesField) !== state.field(variablesField);
      if (docChanged || viewportChanged || variablesChanged) this.decorations = decorate(view);
    }
  },
  { decorations: (plugin) => plugin.decorations },
);

/** Offers variables after two braces that are not escaped. */
function complete(context: CompletionContext): CompletionResult | null {
  const before = context.matchBefore(/\{\{[ \t]*[A-Za-z_]?[A-Za-z0-9_.-]*/);
  if (before === null) return null;
  if (context.state.sliceDoc(Math.max(0, before.from - 1), before.from) === '\\') return null;
  const typed = /[A-Za-z_][A-Za-z0-9_.-]*$/.exec(before.text)?.[0] ?? '';
  const options = context.state.field(variablesField).map(({ name, detail, isDeclared }): Completion => ({
    label: name,
    detail,
    boost: isDeclared ? 1 : 0,
    apply: insertName,
  }));
  return options.length === 0
    ? null
    : { from: context.pos - typed.length, options, validFor: /^[A-Za-z_]?[A-Za-z0-9_.-]*$/ };
}

/** Writes the name, and closes the placeholder unless it is closed or goes on with a default. */
function insertName(view: EditorView, { label }: Completion, from: number, to: number): void {
  const after = view.state.sliceDoc(to, to + 200);
  const isClosed = /^[A-Za-z0-9_.-]*[ \t]*(?:\}\}|\|)/.test(after);
  // The rest of a name that the cursor stood in is replaced with it.
  const end = isClosed ? to + (/^[A-Za-z0-9_.-]*/.exec(after)?.[0].length ?? 0) : to;
  const opening = /\{\{([ \t]*)$/.exec(view.state.sliceDoc(Math.max(0, from - 20), from));
  const insert = isClosed ? label : `${label}${opening?.[1] ?? ''}}}`;
  view.dispatch({
    changes: { from, to: end, insert },
    selection: { anchor: from + insert.length },
    userEvent: 'input.complete',
  });
}

function hints(texts: TemplateHints): Extension {
  return hoverTooltip((view, position) => {
    const ranges = view.state.field(rangesField);
    const range = ranges[firstEndingAfter(ranges, position)];
    if (range === undefined || range.from > position) return null;
    const dom = document.createElement('div');
    dom.className = 'cm-hint';
    dom.textContent = hintOf(range, view.state.field(variablesField), texts);
    return { pos: range.from, end: range.to, above: true, create: () => ({ dom }) };
  });
}

/** The language of prompts for CodeMirror: marks placeholders, completes names, explains on hover. */
export function templateLanguage(variables: readonly KnownVariable[], texts: TemplateHints): Extension {
  return [
    variablesField.init(() => variables),
    rangesField,
    highlighting,
    autocompletion({ override: [complete], icons: false }),
    hints(texts),
  ];
}
