import type { DeviceInfoInput } from '../client/entities.ts';

const first = (text: string, pattern: RegExp) => pattern.exec(text)?.[1];

/** Name and version of the engine that the user agent reveals. */
export function engineOf(userAgent: string): string {
  const chromium = first(userAgent, /Chrom(?:e|ium)\/(\d+)/);
  return chromium ? `Chromium ${chromium}` : 'Web browser';
}

/** Returns the device info that the user agent reveals. `build` identifies the player's script. */
export function readDeviceInfo(userAgent: string, build: string): DeviceInfoInput {
  const tizen = first(userAgent, /Tizen ([\d.]+)/);
  const isWebOs = /Web0S|webOS/i.test(userAgent);
  const system = tizen ? `Tizen ${tizen}` : first(userAgent, /\(([^)]*)\)/);
  return {
    manufacturer: tizen ? 'Samsung' : isWebOs ? 'LG' : null,
    model: engineOf(userAgent),
    osVersion: system?.slice(0, 255) ?? null,
    appVersion: `web ${build}`,
  };
}
