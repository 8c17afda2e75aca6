import cors from 'cors';
import type { RequestHandler } from 'express';
import document from '../../generated/openapi.json' with { type: 'json' };
import { operationTable, type OperationRow } from '../../generated/operations.ts';

/** Lets pages of these origins call every operation, and read every declared header. Empty without origins. */
export function corsFor(origins: readonly string[]): RequestHandler[] {
  if (origins.length === 0) return [];
  const rows: readonly OperationRow[] = Object.values(operationTable);
  const answers = Object.values(document.paths).flatMap((item: object) =>
    Object.values(item).flatMap(({ responses = {} }: { responses?: object }) => Object.values(responses)),
  ) as { headers?: object }[];
  const headerParameters = rows.flatMap(({ parameters }) => parameters.filter(({ in: place }) => place === 'header'));
  return [
    cors({
      origin: [...origins],
      methods: unique(rows.map(({ method }) => method)),
      allowedHeaders: unique([
        ...['Authorization', 'Content-Type', 'X-API-Key', 'X-Request-Id', 'traceparent'],
        ...headerParameters.map(({ name }) => name),
      ]),
      exposedHeaders: unique(
        [...answers, ...Object.values(document.components.responses)].flatMap(({ headers = {} }) =>
          Object.keys(headers),
        ),
      ).filter((name) => name !== 'Set-Cookie'), // Other origins get no session, and no page reads this field.
      maxAge: 600,
    }),
  ];
}

function unique(names: readonly string[]): string[] {
  return [...new Set(names)];
}
