import { openDB } from 'idb';
import { storageQuota } from '../media/media-budget.ts';
import { readJson, writeJson } from '../recovery/reload.ts';
import { fill, texts } from './texts.ts';
import type { Finding } from './verdicts.ts';

const name = 'signage-player-check-visit';

function visitIn(storage: Storage, nowMs: number): number | undefined {
  const first = readJson(storage, name);
  if (typeof first === 'number') return first;
  writeJson(storage, name, nowMs);
  return undefined;
}

async function visitInDatabase(nowMs: number): Promise<number | undefined> {
  const database = await openDB(name, 1, {
    upgrade: (created) => void created.createObjectStore('visits'),
  });
  const first: number | undefined = await database.get('visits', 'first');
  if (first === undefined) await database.put('visits', nowMs, 'first');
  database.close();
  return first;
}

/** Looks for what earlier visits have stored. A session ends with the browser. */
export async function probeStorage(nowMs: number): Promise<Finding> {
  try {
    const local = visitIn(localStorage, nowMs);
    const isSameSession = visitIn(sessionStorage, nowMs) !== undefined;
    const inDatabase = await visitInDatabase(nowMs);
    const bytes = await storageQuota();
    const first = local ?? inDatabase;
    const isLost = first !== undefined && (local === undefined || inDatabase === undefined);
    const state = first === undefined ? 'first' : isLost ? 'lost' : isSameSession ? 'same' : 'kept';
    const size = bytes === undefined ? texts.unknown : `${(bytes / 1e9).toFixed(1)} GB`;
    const isKnown = isLost || state === 'kept';
    return {
      text: fill(texts[state], { when: new Date(first ?? nowMs).toLocaleString(), size }),
      isGood: isKnown ? !isLost : undefined,
      words: `storage=${state} since=${new Date(first ?? nowMs).toISOString()} quota=${bytes}`,
      report: isKnown ? { keepsStorage: !isLost } : {},
    };
  } catch (error) {
    const reason = (error as Error).message;
    return { text: fill(texts.none, { reason }), isGood: false, words: 'storage=none' };
  }
}
