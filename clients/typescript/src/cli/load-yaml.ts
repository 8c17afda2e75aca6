import type { ParsedYaml } from '../transfer/cases.ts';
import { yamlParser } from '../transfer/parse-yaml.ts';
import { FileError } from './read-text.ts';

/**
 * The parser of YAML. It is no dependency of the package, because only some formats need it.
 * @throws {FileError}
 */
export async function loadYaml(): Promise<(text: string) => ParsedYaml> {
  const yaml = await import('yaml').catch(() => {
    throw new FileError('This format needs the package yaml: npm install yaml');
  });
  return yamlParser(yaml);
}
