/** Reads the blocks of code of README and guides, which tests run. */
import { readFile } from 'node:fs/promises';

export interface Block {
  readonly language: string | undefined;
  readonly text: string;
}

/** The text of a file in `openapi/guides/`. */
export function readGuide(name: string): Promise<string> {
  return readFile(new URL(`../../openapi/guides/${name}`, import.meta.url), 'utf8');
}

export function readBlocks(markdown: string): Block[] {
  return [...markdown.matchAll(/```(\w+)\n([^]*?)```/g)].map(([, language, text = '']) => ({ language, text }));
}

/** The first block in a language that contains a text. */
export function findBlock(blocks: readonly Block[], language: string, part: string): string {
  const found = blocks.find((block) => block.language === language && block.text.includes(part));
  if (found === undefined) throw new Error(`there is no ${language} block with ${part}`);
  return found.text;
}
