/** A name server for tests, on a UDP port of the loopback. It knows some names, and does not answer others. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { isIP } from 'node:net';

export interface DnsServer {
  /** Its address in the form of `DNS_SERVERS`. */
  readonly address: string;
  /** The names that were asked for, with the type of each query. */
  readonly queries: readonly { readonly name: string; readonly type: 'A' | 'AAAA' | 'other' }[];
  close(): Promise<void>;
}

/** The addresses of a name. An empty list is NODATA, undefined is NXDOMAIN, and `silence` is no answer. */
export type Zone = (name: string) => readonly string[] | 'silence' | 'failure' | undefined;

const types = { A: 1, AAAA: 28 } as const;
const replyCodes = { none: 0, failure: 2, unknown: 3 } as const;

export async function startDnsServer(zone: Zone): Promise<DnsServer> {
  const socket = createSocket('udp4');
  const queries: { name: string; type: 'A' | 'AAAA' | 'other' }[] = [];
  socket.on('message', (message, { port, address }) => {
    const { name, type, question } = readQuestion(message);
    const typeName = type === types.A ? 'A' : type === types.AAAA ? 'AAAA' : 'other';
    queries.push({ name, type: typeName });
    const known = zone(name);
    if (known === 'silence') return;
    const addresses =
      typeof known === 'object' ? known.filter((each) => isIP(each) === (type === types.A ? 4 : 6)) : [];
    const code = known === undefined ? replyCodes.unknown : known === 'failure' ? replyCodes.failure : replyCodes.none;
    const header = Buffer.alloc(12);
    message.copy(header, 0, 0, 2);
    header.writeUInt16BE(0x8180 | code, 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(addresses.length, 6);
    const answers = addresses.map((each) => {
      const data = toBytes(each);
      const record = Buffer.alloc(12);
      // The name is part of the question, which begins at byte 12.
      record.writeUInt16BE(0xc00c, 0);
      record.writeUInt16BE(type, 2);
      record.writeUInt16BE(1, 4);
      record.writeUInt32BE(60, 6);
      record.writeUInt16BE(data.length, 10);
      return Buffer.concat([record, data]);
    });
    socket.send(Buffer.concat([header, question, ...answers]), port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return {
    address: `127.0.0.1:${socket.address().port}`,
    queries,
    async close() {
      socket.close();
      await once(socket, 'close');
    },
  };
}

function readQuestion(message: Buffer): { name: string; type: number; question: Buffer } {
  const labels: string[] = [];
  let at = 12;
  for (let length = message.readUInt8(at); length > 0; length = message.readUInt8(at)) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return {
    name: labels.join('.').toLowerCase(),
    type: message.readUInt16BE(at + 1),
    question: message.subarray(12, at + 5),
  };
}

function toBytes(address: string): Buffer {
  if (isIP(address) === 4) return Buffer.from(address.split('.').map(Number));
  const [head = '', tail] = address.split('::');
  const groups = (text: string): string[] => (text === '' ? [] : text.split(':'));
  const [left, right] = [groups(head), groups(tail ?? '')];
  const middle = Array.from({ length: 8 - left.length - right.length }, () => '0');
  return Buffer.from(
    [...left, ...(tail === undefined ? [] : middle), ...right].map((group) => group.padStart(4, '0')).join(''),
    'hex',
  );
}
