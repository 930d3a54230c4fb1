import { expect, it } from 'vitest';
import { readDeviceInfo } from '../../src/web/device-info.ts';
import { pixelShift, readSettings } from '../../src/web/page-settings.ts';
import { crashPauseMs, watchdogPauseMs } from '../../src/web/recovery/pauses.ts';

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
  };
  for (const given of [undefined, {}, { fit: 'wide', sound: 1, background: 5, pixelShift: 'no' }])
    expect(readSettings(config(given))).toEqual(defaults);
  expect(readSettings(undefined)).toEqual(defaults);
});

it('settings come from the member player of the config', () => {
  const player = {
    fit: 'cover',
    sound: true,
    background: 'navy',
    pixelShift: true,
    reloadHours: 9,
    idle: 'info',
  };
  expect(readSettings(config(player))).toEqual(player);
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
