/** The part of a logger that the database code uses; a pino logger has it. */
export interface DatabaseLog {
  info(fields: Record<string, unknown>, message: string): void;
  warn(fields: Record<string, unknown>, message: string): void;
}
