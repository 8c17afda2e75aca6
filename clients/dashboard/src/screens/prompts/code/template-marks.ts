import type { TemplateRange } from './template-ranges.ts';

/** What a template editor knows of a variable. */
export interface KnownVariable {
  readonly name: string;
  readonly isDeclared: boolean;
  /** Shown beside the name: its default, that it is required, or its purpose. */
  readonly detail: string;
}

/** Texts that the editor shows on hover. */
export interface TemplateHints {
  readonly undeclared: (name: string) => string;
  readonly undeclaredWithDefault: (name: string) => string;
  readonly declared: (name: string, detail: string) => string;
  readonly stray: string;
  readonly escape: string;
}

/** What is shown on hover over a range. */
export function hintOf(range: TemplateRange, variables: readonly KnownVariable[], texts: TemplateHints): string {
  if (range.kind !== 'placeholder') return texts[range.kind];
  const variable = variables.find(({ name }) => name === range.name);
  if (variable?.isDeclared === true) return texts.declared(range.name, variable.detail);
  return range.defaultFrom === undefined ? texts.undeclared(range.name) : texts.undeclaredWithDefault(range.name);
}

/** A part of a template with the class that gives it its colour. */
export interface TemplateMark {
  readonly from: number;
  readonly to: number;
  readonly name: string;
}

/** The marks of a range, in their order. A placeholder has a value in every case if it is declared, or has a default. */
export function marksOf(range: TemplateRange, declared: ReadonlySet<string>): TemplateMark[] {
  if (range.kind !== 'placeholder') return [{ from: range.from, to: range.to, name: `tpl-${range.kind}` }];
  const { from, to, nameFrom, name, defaultFrom } = range;
  const nameTo = nameFrom + name.length;
  const standing = declared.has(name) ? '' : defaultFrom === undefined ? ' tpl-unknown' : ' tpl-defaulted';
  const marks = [
    { from, to: nameFrom, name: 'tpl-brace' },
    { from: nameFrom, to: nameTo, name: `tpl-name${standing}` },
    { from: nameTo, to: defaultFrom ?? to, name: 'tpl-brace' },
    ...(defaultFrom === undefined
      ? []
      : [
          { from: defaultFrom, to: to - 2, name: 'tpl-default' },
          { from: to - 2, to, name: 'tpl-brace' },
        ]),
  ];
  return marks.filter((mark) => mark.to > mark.from);
}
