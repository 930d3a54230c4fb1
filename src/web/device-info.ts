import type { DeviceInfoInput } from '../client/entities.ts';

const first = (text: string, pattern: RegExp) => pattern.exec(text)?.[1];

/** Returns the device info that the user agent reveals. `build` identifies the player's script. */
export function readDeviceInfo(userAgent: string, build: string): DeviceInfoInput {
  const tizen = first(userAgent, /Tizen ([\d.]+)/);
  const isWebOs = /Web0S|webOS/i.test(userAgent);
  const chromium = first(userAgent, /Chrom(?:e|ium)\/(\d+)/);
  const system = tizen ? `Tizen ${tizen}` : first(userAgent, /\(([^)]*)\)/);
  return {
    manufacturer: tizen ? 'Samsung' : isWebOs ? 'LG' : null,
    model: chromium ? `Chromium ${chromium}` : 'Web browser',
    osVersion: system?.slice(0, 255) ?? null,
    appVersion: `web ${build}`,
  };
}
