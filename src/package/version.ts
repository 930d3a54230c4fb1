import { readAsset } from './assets.ts';

/** Returns the version of this package, or `undefined` in a bundle, which lacks its files. */
export function packageVersion(): string | undefined {
  try {
    const text = readAsset('package', 'package.json').toString();
    const { name, version } = JSON.parse(text) as { name: string; version: string };
    return name === 'signage-kit' ? version : undefined;
  } catch {
    return undefined;
  }
}
