/** The id of a takeover, where entries of schedules have theirs. */
export const takeoverId = 'takeover';
/** The layers that can play. `on-demand`: a base that the program of the operator gave. */
export const layerNames = ['takeover', 'entry', 'base', 'on-demand'] as const;
export type LayerName = (typeof layerNames)[number];

/** Returns the layer of what plays under an `entryId`. */
export function layerOfEntry(entryId: string | null | undefined): Exclude<LayerName, 'on-demand'> {
  if (entryId == null) return 'base';
  return entryId === takeoverId ? 'takeover' : 'entry';
}
