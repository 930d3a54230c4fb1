import { describe, expect, it } from 'vitest';
import { deviceInfo, registration } from '../../../src/domain/records/device.ts';

const nothing = {
  manufacturer: null,
  model: null,
  osVersion: null,
  appVersion: null,
  macAddress: null,
  ipAddress: null,
  deviceName: null,
  locationHint: null,
};
const members = Object.keys(nothing);

describe('deviceInfo', () => {
  it.each<[string, object, object]>([
    ['no members', {}, {}],
    ['null, as absent', nothing, {}],
    ['unknown members, ignored', { model: 'X', nested: { a: 1 } }, { model: 'X' }],
    ['255 characters', { model: 'x'.repeat(255) }, { model: 'x'.repeat(255) }],
    ['an empty text', { model: '' }, { model: '' }],
    ['a lone surrogate', { deviceName: '\ud800' }, { deviceName: '\ud800' }],
  ])('may have %s', (_, sent, kept) => {
    expect(deviceInfo.parse(sent)).toEqual({ ...nothing, ...kept });
  });

  it.each([
    { macAddress: '02:00:5E:10:00:0f' },
    { macAddress: '02-00-5e-10-00-0F' },
    { ipAddress: '192.0.2.17' },
    { ipAddress: '2001:db8::17' },
    { ipAddress: '::ffff:192.0.2.17' },
  ])('may have %j', (sent) => expect(deviceInfo.parse(sent)).toEqual({ ...nothing, ...sent }));

  it.each([
    ...['02:00-5E:10:00:01', '02005E100001', '02:00:5E:10:00', '02:00:5E:10:00:0G'],
    ...['02:00:5E:10:00:01:02', '', ' 02:00:5E:10:00:01', '02:00:5E:10:00:01\n'],
  ])('may not have the MAC address %j', (macAddress) => {
    expect(deviceInfo.safeParse({ macAddress }).success).toBe(false);
  });

  it.each([
    ...['256.0.2.1', '192.0.2', '192.0.2.1/24', '01.2.3.4', 'fe80::1%eth0', '2001:db8:::1'],
    ...['12345::', '[::1]', '', ' 192.0.2.1'],
  ])('may not have the IP address %j', (ipAddress) => {
    expect(deviceInfo.safeParse({ ipAddress }).success).toBe(false);
  });

  it.each(members)('may not have a number as %s', (name) => {
    expect(deviceInfo.safeParse({ [name]: 1 }).success).toBe(false);
  });
});

describe('a registration', () => {
  const pathsOf = (value: unknown) =>
    registration.safeParse(value).error?.issues.map(({ path }) => path.join('/')) ?? [];

  it.each(['ABCD2345', '00000000', 'OIL01OIL'])('may have the code %s', (pairingCode) => {
    expect(pathsOf({ pairingCode, deviceInfo: {}, more: 1 })).toEqual([]);
  });

  it.each([
    12345678,
    '',
    'ABCD234',
    'ABCD23456',
    'abcd2345',
    'ABCD-345',
    'ABCD2345\n',
    'ＡBCD2345',
  ])('may not have the code %j', (pairingCode) =>
    expect(pathsOf({ pairingCode, deviceInfo: {} })).toEqual(['pairingCode']),
  );

  it.each<[string, unknown, string[]]>([
    ['an array', [], ['']],
    ['null', null, ['']],
    ['without members', {}, ['pairingCode', 'deviceInfo']],
    ['with null as deviceInfo', { pairingCode: 'ABCD2345', deviceInfo: null }, ['deviceInfo']],
    ['with an array as deviceInfo', { pairingCode: 'ABCD2345', deviceInfo: [] }, ['deviceInfo']],
    ['with a text as deviceInfo', { pairingCode: 'ABCD2345', deviceInfo: 'TV' }, ['deviceInfo']],
    [
      'with a text of 256 characters',
      { pairingCode: 'ABCD2345', deviceInfo: { model: 'x'.repeat(256) } },
      ['deviceInfo/model'],
    ],
  ])('may not be %s', (_, value, paths) => expect(pathsOf(value)).toEqual(paths));
});
