import { isIP } from 'node:net';
import { z } from 'zod';
import { roleNames, type Role } from '../access/people/roles.ts';
import { parseSecretKey } from '../base/secrets/secret-key-file.ts';
import { parseNetwork } from '../base/outbound/address-rules.ts';
import { readNoProxy, type ProxySettings } from '../base/outbound/proxy.ts';
import { messageOf } from '../base/runtime/system-error.ts';

/** Reads the text of an environment variable. Issues describe what was expected and never quote the text. */
export type Format<Value> = z.ZodType<Value, string>;

/** A format by a function that returns undefined for invalid text. `expected` continues "expected …". */
function format<Value>(expected: string, read: (text: string) => Value | undefined): Format<Value> {
  return z.string().transform((text, context) => {
    const value = read(text);
    if (value !== undefined) return value;
    context.issues.push({ code: 'custom', message: `expected ${expected}`, input: text });
    return z.NEVER;
  });
}

/** Text that matches a pattern. */
export function text(expected: string, pattern: RegExp): Format<string> {
  return format(expected, (found) => (pattern.test(found) ? found : undefined));
}

/** A whole number in plain decimal digits. */
export function integer(minimum: number, maximum: number): Format<number> {
  return format(`a whole number from ${minimum} to ${maximum}`, (found) => {
    const value = /^(0|[1-9]\d{0,14})$/.test(found) ? Number(found) : NaN;
    return value >= minimum && value <= maximum ? value : undefined;
  });
}

/** One of several words, each for a value. */
export function choice<Value>(values: Readonly<Record<string, Value>>): Format<Value> {
  return format(`one of ${Object.keys(values).join(', ')}`, (found) =>
    Object.hasOwn(values, found) ? values[found] : undefined,
  );
}

/** Visible ASCII without spaces: valid in a header field. */
export const visibleText = text('visible ASCII characters without spaces', /^[!-~]{1,16384}$/);

/** An absolute http or https address without credentials and query. A slash at its end is removed. */
export const httpAddress: Format<string> = format('an http or https address without credentials or query', (found) => {
  if (!URL.canParse(found)) return undefined;
  const { protocol, username, password, search, hash } = new URL(found);
  const isPlain = username === '' && password === '' && search === '' && hash === '' && !/[?#]$/.test(found);
  return /^https?:$/.test(protocol) && isPlain ? found.replace(/\/+$/, '') : undefined;
});

/** A proxy, without what is optional: see `ProxySettings`. */
export const proxyAddress: Format<Pick<ProxySettings, 'origin' | 'authorization'>> = format(
  'an http or https address of a proxy such as http://user:password@proxy.internal:3128, without a path',
  (found) => {
    if (!URL.canParse(found)) return undefined;
    const { protocol, origin, username, password, pathname, search, hash } = new URL(found);
    const isPlain = pathname === '/' && search === '' && hash === '' && !/[?#]$/.test(found);
    if (!/^https?:$/.test(protocol) || !isPlain) return undefined;
    if (username === '' && password === '') return { origin, authorization: undefined };
    try {
      const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
      return { origin, authorization: `Basic ${Buffer.from(credentials).toString('base64')}` };
    } catch {
      // A percent sign that encodes nothing.
      return undefined;
    }
  },
);

/** Hosts that are not behind a proxy, as other programs read them. */
export const noProxy: Format<ProxySettings['isBypassed']> = format('at most 10,000 characters', (found) =>
  found.length <= 10_000 ? readNoProxy(found) : undefined,
);

/** How many requests a window allows. */
export interface RateLimit {
  readonly requests: number;
  readonly windowSeconds: number;
}

/** `<requests>/<seconds>s`, or `off`. */
export const rateLimit: Format<RateLimit | 'off'> = format('requests per seconds such as 100/60s, or off', (found) => {
  if (found === 'off') return found;
  const [, requests, windowSeconds] = /^([1-9]\d{0,8})\/([1-9]\d{0,4})s$/.exec(found) ?? [];
  return requests === undefined ? undefined : { requests: Number(requests), windowSeconds: Number(windowSeconds) };
});

/** Web origins (RFC 6454) as browsers send them, separated by commas. */
export const origins: Format<readonly string[]> = format(
  'origins such as https://app.example.com, separated by commas, without paths or wildcards',
  (found) => {
    const list = found.split(',').map((origin) => origin.trim());
    const areExact = list.every(
      (origin) => /^https?:/.test(origin) && URL.canParse(origin) && new URL(origin).origin === origin,
    );
    return areExact ? [...new Set(list)] : undefined;
  },
);

/** Networks such as 10.0.0.0/8, or single addresses, separated by commas; none is an empty list. */
export const networks: Format<readonly string[]> = format(
  'networks such as 10.0.0.0/8 or fd00::/8, separated by commas, or none',
  (found) => {
    if (found === 'none') return [];
    const list = found.split(',').map((network) => network.trim());
    return list.every((network) => parseNetwork(network) !== undefined) ? [...new Set(list)] : undefined;
  },
);

/** Name servers in the form of Node, separated by commas. */
export const nameServers: Format<readonly string[]> = format(
  'IP addresses such as 10.0.0.2, 10.0.0.2:5353 or [fd00::2]:5353, separated by commas',
  (found) => {
    const list = found.split(',').map((server) => server.trim());
    const areServers = list.every((server) => {
      const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|(\d+(?:\.\d+){3}))(?::([1-9]\d{0,4}))?$/.exec(server) ?? [];
      return isIP(bracketed ?? plain ?? server) !== 0 && Number(port ?? 53) <= 65535;
    });
    return areServers ? [...new Set(list)] : undefined;
  },
);

/** Keys of 32 bytes in base64, base64url or hex, separated by commas. */
export const secretKeys: Format<readonly string[]> = format('32 bytes in base64 or hex', (found) => {
  const list = found.split(',').map((key) => key.trim());
  return list.every((key) => parseSecretKey(key) !== undefined) ? list : undefined;
});

/** JSON of a given shape. */
export function json<Value>(schema: z.ZodType<Value>): Format<Value> {
  return z
    .string()
    .transform((text, context): unknown => {
      try {
        return JSON.parse(text);
      } catch (error) {
        // Nothing else of the message is shown, because it quotes the text, which can contain secrets.
        const [, line, column] = /\(line (\d+) column (\d+)\)$/.exec(messageOf(error)) ?? [];
        const place = line === undefined ? '' : `, which has a mistake at line ${line}, column ${column}`;
        context.issues.push({ code: 'custom', message: `expected JSON${place}`, input: text });
        return z.NEVER;
      }
    })
    .pipe(schema);
}

/** An https address without credentials and query, kept as it is; http only on the loopback. */
export const secureAddress: Format<string> = format(
  'an https address without credentials or query (http only on the loopback)',
  (found) => {
    if (httpAddress.safeParse(found).success === false) return undefined;
    const { protocol, hostname } = new URL(found);
    const isLoopback = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
    return protocol === 'https:' || isLoopback ? found : undefined;
  },
);

/** Roles by group. */
export const rolesByGroup = json(z.record(z.string().min(1).max(500), z.enum(roleNames)));

/** A role. */
export const role = choice(Object.fromEntries(roleNames.map((name) => [name, name])) as Record<Role, Role>);
