import { IncomingMessage, ServerResponse, type IncomingHttpHeaders } from 'node:http';
import { Socket } from 'node:net';
import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import OpenApiValidator from 'express-openapi-validator';
import { dateTimePattern } from './contract-words.ts';
import type { RawAnswer } from './problem-response.ts';

/** The referee's input: copies of a request and of its answer. */
export interface RefereeExchange {
  readonly method: string;
  /** Path and query as sent. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: unknown;
  readonly answer: Pick<RawAnswer, 'status' | 'headers' | 'body'>;
}

/** The referee's result for an exchange. */
export interface SecondOpinion {
  /** Whether the request follows the contract. */
  readonly request: Opinion;
  /**
   * Whether the answer follows the contract. `undefined` for answers that the referee cannot check: 5xx, empty answers
   * and media types other than JSON.
   */
  readonly answer: Opinion | undefined;
}

export type Opinion = { readonly accepted: true } | { readonly accepted: false; readonly reason: string };

/** A second, independent implementation of the contract's rules. */
export interface Referee {
  judge(exchange: RefereeExchange): Promise<SecondOpinion>;
}

/** The parts of a bundled contract that the referee reads. */
export interface Contract {
  readonly paths: Readonly<Record<string, unknown>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

interface ValidatorOptions {
  readonly validateRequests: boolean;
  readonly validateResponses: boolean;
}

type Outcome = { error: unknown };
interface Slot {
  exchange: RefereeExchange;
  decide: (outcome: Outcome | undefined) => void;
}

/**
 * Runs express-openapi-validator with the same contract, in separate applications that get copies, because it adds
 * defaults and converts values in place. It judges and does not serve: it uses several times the CPU of everything else
 * together.
 * @param document the bundled contract
 */
export function createReferee(document: Contract): Referee {
  const requests = application(document, { validateRequests: true, validateResponses: false });
  const answers = application(document, { validateRequests: false, validateResponses: true });
  return {
    async judge(exchange) {
      const { status, headers, body } = exchange.answer;
      const visible =
        status < 500 && body !== '' && /^application\/(problem\+)?json\b/.test(headers['content-type'] ?? '');
      return {
        request: await ask(requests, exchange),
        // The validator would compile its schemas of answers again for each media type of requests.
        answer: visible ? await ask(answers, { ...exchange, headers: withoutMediaType(exchange.headers) }) : undefined,
      };
    },
  };
}

const slots = new WeakMap<IncomingMessage, Slot>();

/**
 * One validator for the paths of each kind of resource, created when it is first needed: a validator often walks its
 * whole document, and creating one compiles the schema of OpenAPI itself. The search for it ignores case and slashes,
 * which the validator checks.
 */
function application(document: Contract, options: ValidatorOptions): Express {
  const app = express().disable('etag');
  const paths = Object.keys(document.paths).sort((one, other) => parametersIn(one) - parametersIn(other));
  const validators = new Map<string, Express>();
  for (const path of paths) {
    const kind = kindOf(path);
    app.all(path.replaceAll(/\{(\w+)\}/g, ':$1'), (request, response) => {
      let validator = validators.get(kind);
      if (validator === undefined) {
        const alike = paths.filter((other) => kindOf(other) === kind);
        validators.set(kind, (validator = createValidator(contractOf(alike, document), options)));
      }
      validator(request, response);
    });
  }
  app.use(createValidator({ ...document, paths: {}, components: {} }, options));
  app.use(refuse);
  return app;
}

function refuse(error: unknown, request: Request, _response: Response, _next: NextFunction): void {
  slots.get(request)?.decide({ error });
}

/** The first part of a path that is not of all paths alike. */
function kindOf(path: string): string {
  return /^(?:\/api)?(?:\/v1)?\/[^/]*/.exec(path)?.[0] ?? path;
}

function parametersIn(path: string): number {
  return path.split('{').length;
}

/** The part of the contract for some paths: the paths and the components that they refer to. */
function contractOf(paths: readonly string[], document: Contract): Contract {
  const components: Record<string, Record<string, unknown>> = {};
  const addComponents = (value: unknown): void => {
    const [, kind, name] = typeof value === 'string' ? (/^#\/components\/(\w+)\/([^/]+)$/.exec(value) ?? []) : [];
    if (kind !== undefined && name !== undefined) {
      const component = document.components[kind]?.[name];
      const known = (components[kind] ??= {});
      if (known[name] !== undefined) return;
      known[name] = component;
      addComponents(component);
    } else if (typeof value === 'object' && value !== null) {
      for (const member of Object.values(value)) addComponents(member);
    }
  };
  const chosen = Object.fromEntries(paths.map((path) => [path, document.paths[path]]));
  addComponents(chosen);
  return { ...document, paths: chosen, components };
}

function createValidator(document: Contract, options: ValidatorOptions): Express {
  const app = express().enable('case sensitive routing').enable('strict routing').disable('etag');
  app.use(
    OpenApiValidator.middleware({
      apiSpec: adapted(document) as never,
      validateApiSpec: false,
      validateSecurity: false,
      validateFormats: true,
      ajvFormats: { mode: 'full' },
      ...options,
    }),
  );
  app.use((request: Request, response: Response) => {
    const slot = slots.get(request);
    const answer = slot?.exchange.answer;
    if (options.validateResponses && answer !== undefined) {
      response.status(answer.status).setHeader('content-type', answer.headers['content-type'] ?? '');
      response.json(JSON.parse(answer.body));
    }
    slot?.decide(undefined);
  });
  app.use(refuse);
  return app;
}

async function ask(app: Express, exchange: RefereeExchange): Promise<Opinion> {
  const request = new IncomingMessage(new Socket());
  const contentType = exchange.headers['content-type'];
  Object.assign(request, {
    method: exchange.method,
    url: exchange.url,
    headers: {
      ...exchange.headers,
      ...(contentType === undefined ? {} : { 'content-type': plainMediaType(contentType) }),
    },
    body: structuredClone(exchange.body),
  });
  const outcome = await new Promise<Outcome | undefined>((decide) => {
    slots.set(request, { exchange, decide });
    app(request as Request, new ServerResponse(request) as Response);
  });
  return outcome === undefined ? { accepted: true } : { accepted: false, reason: reasonOf(outcome.error) };
}

function withoutMediaType({ 'content-type': _, ...headers }: IncomingHttpHeaders): IncomingHttpHeaders {
  return headers;
}

/** The validator keeps a compiled copy for every media type that it has seen, so it is given only two. */
function plainMediaType(contentType: string): string {
  const essence = contentType.split(';', 1)[0]?.trim().toLowerCase();
  return essence === 'application/json' ? essence : 'application/octet-stream';
}

function reasonOf(error: unknown): string {
  const { status, message, errors } = error as { status?: number; message?: string; errors?: unknown };
  return `${status ?? ''} ${message ?? String(error)} ${JSON.stringify(errors ?? '')}`.trim().slice(0, 2_000);
}

/**
 * The contract as the validator needs it. RFC 3986 allows reserved characters in query values: that is a setting of each
 * parameter. Its check of a `date-time` allows more than RFC 3339.
 */
function adapted(document: object): object {
  return JSON.parse(JSON.stringify(document), (_key, value: unknown) => {
    if (isQueryParameter(value)) return { ...value, allowReserved: true };
    return isDateTime(value) ? { ...value, pattern: dateTimePattern } : value;
  }) as object;
}

function isDateTime(value: unknown): value is object {
  return typeof value === 'object' && value !== null && 'format' in value && value.format === 'date-time';
}

function isQueryParameter(value: unknown): value is object {
  return typeof value === 'object' && value !== null && 'in' in value && value.in === 'query' && 'schema' in value;
}
