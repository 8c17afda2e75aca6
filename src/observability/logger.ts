import { pino, type DestinationStream, type Logger } from 'pino';
import { scrub } from '../base/runtime/scrub.ts';

/** JSON lines on standard output. Log calls choose their fields; the redaction below is a second safeguard. */
export function createLogger(level: string, destination?: DestinationStream): Logger {
  const options = {
    level,
    base: null,
    timestamp: createTimestamp(),
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { error: serializeError, err: serializeError },
    redact: {
      paths: ['authorization', 'apiKey', 'api_key', 'secret', 'password', 'headers'],
      censor: '[redacted]',
    },
  };
  return pino(options, destination ?? bufferedOutput());
}

/** ISO 8601 times, each formatted once. */
function createTimestamp(): () => string {
  let last = 0;
  let text = '';
  return () => {
    const present = Date.now();
    if (present !== last) {
      last = present;
      text = `,"time":"${new Date(present).toISOString()}"`;
    }
    return text;
  };
}

let standardOutput: DestinationStream | undefined;

/** Standard output, written in batches, because a system call for each request would be a tenth of its cost. */
function bufferedOutput(): DestinationStream {
  if (standardOutput !== undefined) return standardOutput;
  const output = pino.destination({ fd: 1, sync: true, minLength: 4096, periodicFlush: 200 });
  process.on('exit', () => {
    output.flushSync();
  });
  return (standardOutput = output);
}

/**
 * Name, message, code and stack of an error and its causes: no request, options or response objects, because they
 * contain keys.
 */
function serializeError(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error)) return { message: scrub(String(error)) };
  const code: unknown = 'code' in error ? error.code : undefined;
  return {
    name: error.name,
    message: scrub(error.message),
    ...(typeof code === 'string' || typeof code === 'number' ? { code } : {}),
    stack: error.stack === undefined ? undefined : scrub(error.stack),
    ...(error.cause === undefined || depth >= 3 ? {} : { cause: serializeError(error.cause, depth + 1) }),
  };
}
