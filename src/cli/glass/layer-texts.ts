import type { ScreenStatus } from '../../client/entities.ts';
import { layerText } from '../../domain/layers/layer-text.ts';
import { span } from '../terminal/text.ts';

type LayerStatus = Pick<ScreenStatus, 'playing' | 'layer' | 'playlist' | 'at'>;

/** Names the layer that is due: `the takeover`, `version 8 of the playlist of the screen`. */
export function dueText({
  layer,
  playlist,
}: Pick<LayerStatus, 'layer' | 'playlist'>): string | null {
  if (!layer) return null;
  const text = layerText(layer.name, layer.entryId);
  return layer.entryId === null && playlist ? `version ${playlist.version} of ${text}` : text;
}

/** Names the item that plays, and its layer unless it is the base: `fire.png (takeover)`. */
export function playingText({
  playing,
  layer,
}: Pick<LayerStatus, 'playing' | 'layer'>): string | null {
  if (!playing) return null;
  const { name, creativeId, layer: itsLayer, entryId } = playing;
  // An item of a layer that has ended is named by nothing but its id.
  if (name === null && layer?.state === 'switching') return null;
  const shown = name ?? creativeId;
  if (itsLayer == null || itsLayer === 'base') return shown;
  return `${shown} (${itsLayer === 'entry' ? `entry ${entryId}` : itsLayer})`;
}

/** Says that a screen that plays is about to play something else. `null`: it is not. */
export function switchText(status: LayerStatus): string | null {
  const { playing, layer, at } = status;
  if (!playing || !layer) return null;
  if (layer.state === 'switching') {
    const sinceMs = layer.since === null ? undefined : Date.parse(layer.since);
    const since = sinceMs === undefined ? '' : `, since ${span(Date.parse(at) - sinceMs)}`;
    return `Switching to ${dueText(status)}${since}.`;
  }
  // A TV that does not report what it shows reports the end of its plays.
  const isOther = playing.layer != null && (playing.entryId ?? null) !== layer.entryId;
  return layer.state === 'given' && isOther ? `The TV has ${dueText(status)}.` : null;
}
