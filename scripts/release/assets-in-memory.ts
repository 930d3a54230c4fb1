import { getAsset } from 'node:sea';
import type { AssetFolder } from '../../src/package/assets.ts';

// Replaces `src/package/assets.ts` in the self-contained executable. Its files are in the
// executable, so nobody can change them, and they need no folder.

const names = JSON.parse(getAsset('names.json', 'utf8')) as Record<AssetFolder, string[]>;

export function readAsset(folder: AssetFolder, name: string): Buffer {
  return Buffer.from(getAsset(`${folder}/${name}`));
}

export const assetNames = (folder: AssetFolder): string[] => names[folder];
