import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** A network such as `10.0.0.0/8`. */
export type Network = readonly [Address, number];

/**
 * Networks that are not public. Otherwise everyone who can configure an integration could make this service
 * connect to machines that only it can reach. These are the IANA special-purpose address registries, and further
 * addresses of clouds. https://www.iana.org/assignments/iana-ipv4-special-registry,
 * https://www.iana.org/assignments/iana-ipv6-special-registry
 */
const refusedIPv4 = [
  '0.0.0.0/8', // this host (RFC 1122)
  '10.0.0.0/8', // private (RFC 1918)
  '100.64.0.0/10', // carrier-grade NAT (RFC 6598), also 100.100.100.200, a cloud's metadata
  '127.0.0.0/8', // loopback
  '169.254.0.0/16', // link-local, also 169.254.169.254, most clouds' metadata
  '168.63.129.16/32', // a cloud's host agent
  '172.16.0.0/12', // private (RFC 1918)
  '192.0.0.0/24', // protocol assignments, also 192.0.0.192, a cloud's metadata
  '192.0.2.0/24', // documentation
  '192.31.196.0/24', // AS112
  '192.52.193.0/24', // AMT
  '192.88.99.0/24', // 6to4 relays
  '192.168.0.0/16', // private (RFC 1918)
  '192.175.48.0/24', // AS112
  '198.18.0.0/15', // benchmarking
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, broadcast
].map(parseBuiltIn);

/**
 * For IPv6, only addresses for global unicast are accepted, so mapped, local and future forms are refused without a
 * list.
 */
const globalIPv6 = parseBuiltIn('2000::/3');

const refusedIPv6 = [
  '2001::/23', // protocol assignments: Teredo, benchmarking, AMT, ORCHID, drone ids
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4: an IPv4 address inside, which may be a private one
  '2620:4f:8000::/48', // AS112
  '3fff::/20', // documentation
].map(parseBuiltIn);

/** IPv4 addresses as a dual-stack socket writes them: the connection is made over IPv4. */
const mapped = parseBuiltIn('::ffff:0:0/96');
/** IPv4 addresses in networks without IPv4, where names resolve to these (RFC 6052). */
const translated = parseBuiltIn('64:ff9b::/96');

/** Whether a connection to an address is allowed. */
export type AddressRule = (address: string) => boolean;

/** @param allowed networks that the operator allows; they take precedence over every refusal */
export function createAddressRule(allowed: readonly Network[]): AddressRule {
  return (text) => {
    const given = parseAddress(text);
    if (given === undefined) return false;
    const address = withoutEmbedding(given);
    if (isIn(given, allowed) || isIn(address, allowed)) return true;
    return address.kind() === 'ipv4'
      ? !isIn(address, refusedIPv4)
      : isIn(address, [globalIPv6]) && !isIn(address, refusedIPv6);
  };
}

/** Reads `10.0.0.0/8`, `fd00::/8` or a single address. Undefined for any other text. */
export function parseNetwork(text: string): Network | undefined {
  // ipaddr.js also accepts octal and hexadecimal forms; here only the usual form is accepted.
  const [address = '', length] = text.split('/');
  if (!ipaddr.IPv4.isValidFourPartDecimal(address) && !ipaddr.IPv6.isValid(address)) return undefined;
  if (length === undefined) {
    const single = ipaddr.parse(address);
    return [single, single.kind() === 'ipv4' ? 32 : 128];
  }
  return ipaddr.isValidCIDR(text) ? ipaddr.parseCIDR(text) : undefined;
}

/** Whether a text is an address in one of these networks. */
export function isInNetworks(text: string, networks: readonly Network[]): boolean {
  const address = parseAddress(text);
  return address !== undefined && isIn(address, networks);
}

/** Whether a text is an address of the loopback. */
export function isLoopback(text: string): boolean {
  const address = parseAddress(text);
  return address !== undefined && isIn(withoutEmbedding(address), loopbackNetworks);
}

/** This machine. */
export const loopbackNetworks: readonly Network[] = ['127.0.0.0/8', '::1/128'].map(parseBuiltIn);

/**
 * Unlike sockets, ipaddr.js reads `::8.8.8.8` as `::ffff:8.8.8.8` and accepts `1.2`. Addresses with zones are not
 * public.
 */
function parseAddress(text: string): Address | undefined {
  const kind = isIP(text);
  if (kind === 0 || text.includes('%')) return undefined;
  return ipaddr.parse(kind === 4 ? text : new URL(`http://[${text}]`).hostname.slice(1, -1));
}

function withoutEmbedding(address: Address): Address {
  if (address.kind() === 'ipv4' || !isIn(address, [mapped, translated])) return address;
  return new ipaddr.IPv4(address.toByteArray().slice(12));
}

function isIn(address: Address, networks: readonly Network[]): boolean {
  return networks.some(([network, length]) => network.kind() === address.kind() && address.match(network, length));
}

function parseBuiltIn(text: string): Network {
  return ipaddr.parseCIDR(text);
}
