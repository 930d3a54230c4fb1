export type Impression = {
  type: string;
  timestamp: number;
  playlistId: string;
  creativeId: string;
  campaignId: string;
};

/** What was acknowledged so far: all of it must be there after any kill. */
export interface Acknowledged {
  /** How many calls were answered so far. */
  answers: number;
  screens: Set<string>;
  /** Keys of bound devices, by device. */
  keys: Map<string, string>;
  revoked: Map<string, string>;
  /**
   * Events of each device: acknowledged, and sent at all (one that was not answered may be there or
   * not).
   */
  events: Map<string, { acknowledged: number; sent: number }>;
  /** Keys that another has taken the place of, since that was first used; by themselves. */
  rotated: Map<string, { deviceId: string }>;
  /**
   * What was written over and over, by its name: the last value acknowledged, and the last one
   * asked for.
   */
  edits: Map<string, { acknowledged: string | undefined; asked: string }>;
  /** Batches whose answer was lost, to be sent again under the same key: then they count once. */
  lost: { deviceId: string; key: string; apiKey: string; batch: Impression[] }[];
}

export function nothingYet(): Acknowledged {
  return {
    answers: 0,
    screens: new Set(),
    keys: new Map(),
    revoked: new Map(),
    events: new Map(),
    rotated: new Map(),
    edits: new Map(),
    lost: [],
  };
}

/** Adds what a further life of the same folder has acknowledged. */
export function addLife(all: Acknowledged, life: Acknowledged): void {
  all.answers += life.answers;
  all.lost.push(...life.lost);
  for (const id of life.screens) all.screens.add(id);
  for (const [deviceId, key] of life.keys) all.keys.set(deviceId, key);
  for (const [deviceId, key] of life.revoked) all.revoked.set(deviceId, key);
  for (const [deviceId, tally] of life.events) all.events.set(deviceId, tally);
  for (const [key, by] of life.rotated) all.rotated.set(key, by);
  for (const [name, edit] of life.edits) all.edits.set(name, edit);
}
