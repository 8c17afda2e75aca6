/** Finds where a fault can be planted in a file: one text that is replaced by another. */
import ts from 'typescript';
import type { Swap } from '../support/jest/mutation.ts';

export type Kind = 'condition turned' | 'bound moved' | 'line left out' | 'await lost';
export const kinds: readonly Kind[] = ['condition turned', 'bound moved', 'line left out', 'await lost'];

export interface Mutant extends Swap {
  readonly kind: Kind;
  readonly line: number;
  /** What is replaced. */
  readonly original: string;
}

/** Where a function begins, where its body begins, and where it ends. */
export interface Place {
  readonly start: number;
  readonly body: number;
  readonly end: number;
}

const moved = new Map([
  ['<', '<='],
  ['<=', '<'],
  ['>', '>='],
  ['>=', '>'],
]);

/** @returns the faults that can be planted in the functions of a file, each with the innermost function around it */
export function findMutants(file: string, text: string): (Mutant & { readonly place: Place })[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const found: (Mutant & { place: Place })[] = [];
  const visit = (node: ts.Node, place: Place | undefined): void => {
    const inner = ts.isFunctionLike(node) && 'body' in node && node.body !== undefined ? placeOf(node) : place;
    if (inner !== undefined) {
      const swap = swapOf(node);
      if (swap !== undefined) {
        const { kind, at, text: changed } = swap;
        const [start, end] = [at.getStart(source), at.getEnd()];
        const line = source.getLineAndCharacterOfPosition(start).line + 1;
        found.push({ file, kind, line, start, end, original: text.slice(start, end), text: changed, place: inner });
      }
    }
    ts.forEachChild(node, (child) => visit(child, inner));
  };
  const placeOf = (node: ts.Node & { body?: ts.Node | undefined }): Place => ({
    start: node.getStart(source),
    body: node.body?.getStart(source) ?? node.getEnd(),
    end: node.getEnd(),
  });
  visit(source, undefined);
  return found;
}

/** What is wrong instead of a part of a program. */
function swapOf(node: ts.Node): { kind: Kind; at: ts.Node; text: string } | undefined {
  if (ts.isIfStatement(node) || ts.isWhileStatement(node)) return turned(node.expression);
  if (ts.isConditionalExpression(node)) return turned(node.condition);
  if (ts.isBinaryExpression(node)) {
    const text = moved.get(node.operatorToken.getText());
    return text === undefined ? undefined : { kind: 'bound moved', at: node.operatorToken, text };
  }
  if (ts.isExpressionStatement(node)) return { kind: 'line left out', at: node, text: ';' };
  if (ts.isAwaitExpression(node)) return { kind: 'await lost', at: node, text: `(${node.expression.getText()})` };
  return undefined;
}

function turned(condition: ts.Expression): { kind: Kind; at: ts.Node; text: string } {
  return { kind: 'condition turned', at: condition, text: `!(${condition.getText()})` };
}
