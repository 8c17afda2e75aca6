import type { JsonValue } from '../content/exact-json.ts';

/** An invocation as it is written down for another program. */
export interface CodeOfCall {
  /** Address of the service, without a slash at its end. */
  readonly baseUrl: string;
  readonly slug: string;
  readonly body: { readonly [name: string]: JsonValue };
  /** `Cache-Control` of the request. */
  readonly cacheControl: string | undefined;
  /** Whether the answer is shown while it is generated. */
  readonly isStreamed: boolean;
}

/** Characters that a terminal or an editor can hide or act upon: controls, separators, marks of direction. */
const invisible = /[\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

/** The call for a POSIX shell. Nothing of the values is interpreted: each argument stands in single quotes. */
export function curlOf({ baseUrl, slug, body, cacheControl, isStreamed }: CodeOfCall): string {
  const sent = isStreamed ? { ...body, stream: true } : body;
  const lines = [
    `curl ${isStreamed ? '-sSN' : '-sS'} ${shellQuoted(`${baseUrl}/api/v1/prompts/${encodeURIComponent(slug)}/invoke`)}`,
    `-H "Authorization: Bearer $PROMPT_GATEWAY_API_KEY"`,
    `-H 'Content-Type: application/json'`,
    ...(cacheControl === undefined ? [] : [`-H ${shellQuoted(`Cache-Control: ${cacheControl}`)}`]),
    `--data-raw ${shellQuoted(visibly(JSON.stringify(sent, null, 2)))}`,
  ];
  return lines.join(' \\\n  ');
}

/** The call with the published client. */
export function typeScriptOf({ baseUrl, slug, body, cacheControl, isStreamed }: CodeOfCall): string {
  const args = [literal(slug)];
  const options = cacheControl === undefined ? undefined : { headers: { 'Cache-Control': cacheControl } };
  if (Object.keys(body).length > 0 || options !== undefined) args.push(literal(body));
  if (options !== undefined) args.push(literal(options));
  return [
    `import { PromptGateway } from "prompt-gateway-client";`,
    '',
    `const gateway = new PromptGateway({`,
    `  baseUrl: ${literal(baseUrl)},`,
    `  apiKey: process.env.PROMPT_GATEWAY_API_KEY ?? "",`,
    `});`,
    '',
    ...(isStreamed
      ? [
          `for await (const text of gateway.prompts.stream(${args.join(', ')}).textStream()) {`,
          `  process.stdout.write(text);`,
          `}`,
        ]
      : [`const { text } = await gateway.prompts.invoke(${args.join(', ')});`, `console.log(text);`]),
  ].join('\n');
}

/** In single quotes a POSIX shell interprets nothing; the quote itself stands outside of them. */
function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** JSON and JavaScript with the same meaning, in which every character can be seen. */
function visibly(code: string): string {
  return code.replace(invisible, (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** A value as a JavaScript literal. `__proto__: …` would set the prototype, `["__proto__"]: …` does not. */
function literal(value: JsonValue, indent = ''): string {
  if (typeof value !== 'object' || value === null) return visibly(JSON.stringify(value));
  const inner = `${indent}  `;
  const entries = Array.isArray(value)
    ? value.map((item) => literal(item, inner))
    : Object.entries(value).map(([name, member]) => `${memberName(name)}: ${literal(member, inner)}`);
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  if (entries.length === 0) return `${open}${close}`;
  return `${open}\n${entries.map((entry) => `${inner}${entry},\n`).join('')}${indent}${close}`;
}

function memberName(name: string): string {
  if (name === '__proto__') return '["__proto__"]';
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : visibly(JSON.stringify(name));
}
