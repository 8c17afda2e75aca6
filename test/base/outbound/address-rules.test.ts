import { describe, expect, it } from '@jest/globals';
import { createAddressRule, loopbackNetworks, parseNetwork } from '../../../src/base/outbound/address-rules.ts';

const mayConnect = createAddressRule([]);

describe('createAddressRule', () => {
  it.each([
    ...['0.0.0.0', '0.1.2.3', '10.0.0.1', '10.255.255.255', '100.64.0.1', '100.100.100.200', '100.127.255.255'],
    ...['127.0.0.1', '127.255.255.254', '169.254.0.1', '169.254.169.254', '172.16.0.1', '172.31.255.255'],
    ...['192.0.0.1', '192.0.0.192', '192.0.2.1', '192.88.99.1', '192.168.0.1', '192.168.255.255', '168.63.129.16'],
    ...['198.18.0.1', '198.19.255.255', '198.51.100.1', '203.0.113.1', '224.0.0.1', '239.255.255.255'],
    ...['240.0.0.1', '255.255.255.255'],
  ])('refuses %s', (address) => {
    expect(mayConnect(address)).toBe(false);
  });

  it.each([
    ['unspecified', '::'],
    ['loopback', '::1'],
    ['IPv4-compatible', '::10.0.0.1'],
    ['IPv4-compatible public', '::8.8.8.8'],
    ['mapped loopback', '::ffff:127.0.0.1'],
    ['mapped loopback in hex', '::ffff:7f00:1'],
    ['mapped metadata', '::ffff:169.254.169.254'],
    ['translated (SIIT)', '::ffff:0:10.0.0.1'],
    ['NAT64 private', '64:ff9b::10.0.0.1'],
    ['NAT64 metadata', '64:ff9b::a9fe:a9fe'],
    ['local NAT64', '64:ff9b:1::1'],
    ['6to4 of a private address', '2002:a00:1::1'],
    ['6to4 of a public address', '2002:808:808::1'],
    ['Teredo', '2001::1'],
    ['benchmarking', '2001:2::1'],
    ['ORCHID', '2001:20::1'],
    ['documentation', '2001:db8::1'],
    ['documentation', '3fff::1'],
    ['unique local', 'fc00::1'],
    ['metadata', 'fd00:ec2::254'],
    ['link-local', 'fe80::1'],
    ['link-local with a zone', 'fe80::1%eth0'],
    ['site-local', 'fec0::1'],
    ['multicast', 'ff02::1'],
    ['discard', '100::1'],
    ['segment routing', '5f00::1'],
    ['not assigned', '4000::1'],
  ])('refuses %s: %s', (_name, address) => {
    expect(mayConnect(address)).toBe(false);
  });

  it.each(['1.1.1.1', '8.8.8.8', '100.63.255.255', '100.128.0.1', '172.15.255.255', '172.32.0.1', '223.255.255.255'])(
    'permits %s',
    (address) => {
      expect(mayConnect(address)).toBe(true);
    },
  );
  it.each(['2606:4700::1111', '2a00:1450:4001::1', '::ffff:8.8.8.8', '64:ff9b::8.8.8.8'])('permits %s', (address) => {
    expect(mayConnect(address)).toBe(true);
  });

  it.each(['', 'localhost', '1.2.3', '1.2.3.4.5', '::g'])('refuses an invalid address: %j', (text) => {
    expect(mayConnect(text)).toBe(false);
  });

  it('permits the given networks in every notation, and no others', () => {
    const network = parseNetwork('10.1.0.0/16');
    const rule = createAddressRule(network === undefined ? [] : [network, ...loopbackNetworks]);
    expect(['10.1.2.3', '::ffff:10.1.2.3', '127.0.0.1', '::1'].map(rule)).toEqual([true, true, true, true]);
    expect(['10.2.0.1', '192.168.0.1', '::ffff:10.2.0.1'].map(rule)).toEqual([false, false, false]);
  });
});

describe('parseNetwork', () => {
  it.each(['10.0.0.0/8', '192.168.1.1', 'fd00::/8', '::1'])('reads %s', (text) => {
    expect(parseNetwork(text)).toBeDefined();
  });
  it.each(['', '10.0.0.0/33', '10/8', '0x0a000000/8', '010.0.0.0/8', 'fd00::/129', 'example.com', '10.0.0.0/'])(
    'refuses %j',
    (text) => {
      expect(parseNetwork(text)).toBeUndefined();
    },
  );
});
