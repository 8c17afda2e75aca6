/** What the database code needs of a logger; pino's fits. */
export interface DatabaseLog {
  info(fields: Record<string, unknown>, message: string): void;
  warn(fields: Record<string, unknown>, message: string): void;
}
