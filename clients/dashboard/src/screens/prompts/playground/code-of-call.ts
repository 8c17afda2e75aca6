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

/** The call with the package `openai` for Python. */
export function pythonOf({ baseUrl, slug, body, isStreamed }: CodeOfCall): string {
  const {
    variables = {},
    version,
    label,
    provider,
    model,
    parameters = {},
  } = body as {
    readonly [name: string]: JsonValue;
    readonly variables?: { readonly [name: string]: JsonValue };
    readonly parameters?: { readonly [name: string]: JsonValue };
  };
  const named = label ?? version;
  const prompt = {
    id: slug,
    ...(named !== undefined && { version: String(named) }),
    // They are texts there.
    variables: Object.fromEntries(
      Object.entries(variables).map(([name, value]) => [
        name,
        typeof value === 'string' || value === null ? value : JSON.stringify(value),
      ]),
    ),
  };
  const shared = ['temperature', 'top_p'].flatMap((name) => (name in parameters ? [[name, parameters[name]]] : []));
  const args: readonly (readonly [string, JsonValue])[] = [
    ['prompt', prompt],
    ...(typeof provider === 'string' && typeof model === 'string' ? [['model', `${provider}/${model}`] as const] : []),
    ...(shared as [string, JsonValue][]),
    ...(parameters['max_output_tokens'] === undefined
      ? []
      : [['max_output_tokens', parameters['max_output_tokens']] as const]),
    ...(isStreamed ? [['stream', true] as const] : []),
  ];
  return [
    'import os',
    '',
    'from openai import OpenAI',
    '',
    `client = OpenAI(base_url=${pythonLiteral(`${baseUrl}/v1`)}, api_key=os.environ["PROMPT_GATEWAY_API_KEY"])`,
    `${isStreamed ? 'stream' : 'response'} = client.responses.create(`,
    ...args.map(([name, value]) => `    ${name}=${pythonLiteral(value, '    ')},`),
    ')',
    ...(isStreamed
      ? [
          'for event in stream:',
          '    if event.type == "response.output_text.delta":',
          '        print(event.delta, end="", flush=True)',
        ]
      : ['print(response.output_text)']),
  ].join('\n');
}

/** A value as a Python literal. Strings of JSON are strings of Python, but for pairs of surrogates. */
function pythonLiteral(value: JsonValue, indent = ''): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value !== 'object') return visibly(JSON.stringify(value));
  const inner = `${indent}    `;
  const entries = Array.isArray(value)
    ? value.map((item) => pythonLiteral(item, inner))
    : Object.entries(value).map(
        ([name, member]) => `${visibly(JSON.stringify(name))}: ${pythonLiteral(member, inner)}`,
      );
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  if (entries.length === 0) return `${open}${close}`;
  return `${open}\n${entries.map((entry) => `${inner}${entry},\n`).join('')}${indent}${close}`;
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
