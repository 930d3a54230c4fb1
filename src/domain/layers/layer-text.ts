import type { LayerName } from './layer-names.ts';

/** Names a layer in a sentence: `the takeover`, `the entry "Lunch"`. */
export function layerText(layer: LayerName, entryId: string | null): string {
  if (layer === 'takeover') return 'the takeover';
  if (layer === 'entry') return `the entry "${entryId}"`;
  return layer === 'base' ? 'the playlist of the screen' : 'the playlist of the on-demand source';
}
