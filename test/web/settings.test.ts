import fc from 'fast-check';
import { expect, it } from 'vitest';
import { configBody, configInput } from '../../src/domain/records/config.ts';
import { readDeviceInfo } from '../../src/web/device-info.ts';
import { crashPauseMs, watchdogPauseMs } from '../../src/web/recovery/pauses.ts';
import { pixelShift, readPageSettings } from '../../src/web/settings/page-settings.ts';
import { SoundReport } from '../../src/web/sound-report.ts';

const config = (player: unknown) =>
  ({ syncIntervalMinutes: 5, heartbeatIntervalMinutes: 1, player }) as never;

it('settings have defaults', () => {
  const defaults = {
    fit: 'contain',
    sound: false,
    background: '#000',
    pixelShift: false,
    reloadHours: undefined,
    idle: undefined,
    rotate: undefined,
    language: undefined,
  };
  for (const given of [undefined, {}, { fit: 'wide', sound: 1, background: 5, pixelShift: 'no' }])
    expect(readPageSettings(config(given))).toEqual(defaults);
  expect(readPageSettings(undefined)).toEqual(defaults);
});

it('settings come from the member player of the config', () => {
  const player = {
    fit: 'cover',
    sound: true,
    background: 'navy',
    pixelShift: true,
    reloadHours: 9,
    idle: 'info',
    rotate: 90,
    language: 'de',
  };
  expect(readPageSettings(config(player))).toEqual(player);
});

const setting = fc.record(
  {
    fit: fc.constantFrom('contain', 'cover', 'fill', 'coverr', 5),
    sound: fc.constantFrom(true, false, 'true', 1),
    background: fc.constantFrom('#000', 'navy', 'rgb(1, 2, 3)', '#12', 'no colour', '', 7),
    pixelShift: fc.constantFrom(true, false, 'yes'),
    reloadHours: fc.constantFrom(1, 168, 0, '9'),
    rotate: fc.constantFrom(0, 90, 180, 270, 45, '90', -90),
    language: fc.constantFrom('de', 'en', 'pt', 'pt-BR', 'ja', 5),
    idle: fc.constantFrom('info', 'black', '/media/a.png', 'https://a.example/b.png', 'blak', true),
  },
  { requiredKeys: [] },
);

it('what a config may store, the player uses as it is', () => {
  fc.assert(
    fc.property(setting, (player) => {
      fc.pre(configInput.safeParse({ player }).success);
      expect(readPageSettings(config(player))).toMatchObject(player);
    }),
  );
});

it.each([
  ['player', 'cover'],
  ['player', null],
  ['fit', 'coverr'],
  ['fit', null],
  ['sound', 'true'],
  ['background', '#12'],
  ['background', ''],
  ['background', 'no colour'],
  ['pixelShift', 'yes'],
  ['reloadHours', 0],
  ['reloadHours', '9'],
  ['idle', 'blak'],
  ['idle', true],
  ['rotate', 45],
  ['rotate', '90'],
  ['language', 'ja'],
  ['language', 'DE'],
])('a config refuses %s: %j, and stored configs may have it', (name, value) => {
  const given = { player: name === 'player' ? value : { [name]: value } };
  expect(configInput.safeParse(given).success).toBe(false);
  expect(configBody.safeParse(given).success).toBe(true);
});

it('missing sound is reported once when it begins, and once when it ends', () => {
  const types: string[] = [];
  const report = new SoundReport(({ type }) => types.push(type));
  for (const isMuted of [false, true, true, false, false, true]) report.note(isMuted);
  expect(types).toEqual(['muted', 'unmuted', 'muted']);
});

it('the pixel shift visits four corners of 2 pixels', () => {
  const places = [0, 1, 2, 3, 4].map((step) => pixelShift(step));
  expect(new Set(places.map(({ x, y }) => `${x} ${y}`)).size).toBe(4);
  expect(places[4]).toEqual(places[0]);
});

it('the watchdog pauses for 5 minutes, and for twice as long each time, up to an hour', () => {
  const minutes = [1, 2, 3, 4, 5, 9].map((count) => watchdogPauseMs(count) / 60_000);
  expect(minutes).toEqual([5, 10, 20, 40, 60, 60]);
});

it('the player pauses after six starts that showed no item to its end, for up to 10 minutes', () => {
  const minutes = [0, 5, 6, 7, 8, 9, 10, 99].map((starts) => crashPauseMs(starts) / 60_000);
  expect(minutes).toEqual([0, 0, 1, 2, 4, 8, 10, 10]);
});

it.each([
  ['Mozilla/5.0 (SMART-TV; LINUX; Tizen 5.0) Chrome/63.0 TV Safari/537.36', 'Samsung', 'Tizen 5.0'],
  ['Mozilla/5.0 (Web0S; Linux/SmartTV) Chrome/79.0 Safari/537.36', 'LG', 'Web0S; Linux/SmartTV'],
  ['Mozilla/5.0 (X11; Linux x86_64) Chrome/156.0 Safari/537.36', null, 'X11; Linux x86_64'],
])('device info of %s', (userAgent, manufacturer, osVersion) => {
  const info = readDeviceInfo(userAgent, 'app.1.js');
  expect(info).toMatchObject({ manufacturer, osVersion, appVersion: 'web app.1.js' });
  expect(info.model).toMatch(/^Chromium \d+$/);
});
