export type Impression = {
  type: string;
  timestamp: number;
  playlistId: string;
  creativeId: string;
  campaignId: string;
};

/** Acknowledged data, which must survive any kill. */
export interface Acknowledged {
  /** Number of answered calls. */
  answers: number;
  screens: Set<string>;
  /** Keys of bound devices. */
  keys: Map<string, string>;
  revoked: Map<string, string>;
  /** Events of each device: acknowledged and sent. */
  events: Map<string, { acknowledged: number; sent: number }>;
  /** Keys that were replaced by a key that has been used. */
  rotated: Map<string, { deviceId: string }>;
  /** Values by name: the last one acknowledged and the last one requested. */
  edits: Map<string, { acknowledged: string | undefined; asked: string }>;
  /** Publications on many screens, by the ids of their screens: acknowledged and requested. */
  publications: Map<string, { acknowledged: number; asked: number }>;
  /** Batches without an answer, to be repeated with the same key. */
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
    publications: new Map(),
    lost: [],
  };
}

/** Adds the acknowledged data of another life of the same folder. */
export function addLife(all: Acknowledged, life: Acknowledged): void {
  all.answers += life.answers;
  all.lost.push(...life.lost);
  for (const id of life.screens) all.screens.add(id);
  for (const [deviceId, key] of life.keys) all.keys.set(deviceId, key);
  for (const [deviceId, key] of life.revoked) all.revoked.set(deviceId, key);
  for (const [deviceId, tally] of life.events) all.events.set(deviceId, tally);
  for (const [key, by] of life.rotated) all.rotated.set(key, by);
  for (const [name, edit] of life.edits) all.edits.set(name, edit);
  for (const [ids, tally] of life.publications) all.publications.set(ids, tally);
}
