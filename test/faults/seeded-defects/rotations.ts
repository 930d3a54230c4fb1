import { hourMs, minuteMs } from '../../../src/domain/clock.ts';
import type { DeviceKey } from '../../../src/domain/records/rows.ts';
import { decorateStore } from '../../../src/service/store-decorator.ts';
import { openStore } from '../../../src/store/location/open.ts';
import type { Store, Tx } from '../../../src/store/store.ts';
import { adminToken as token } from '../../support/service/service.ts';
import { withTx } from '../../support/stores/defective-store.ts';
import { serveWithDefect } from '../../support/stores/seeded-defects.ts';
import { quickFleet } from '../../support/tv/quick-fleet.ts';
import { type Action, runRotations } from '../rotations/scenario.ts';
import { seeded } from './seeded-defect.ts';

type Plant = (store: Store) => Store;

/** Changes device keys on writing. `undefined` drops the write. */
const keepingKeys =
  (change: (row: DeviceKey, before: DeviceKey | undefined) => DeviceKey | undefined): Plant =>
  (store) =>
    decorateStore(
      store,
      withTx(store, (tx) => {
        const put: Tx['put'] = async (table, row) => {
          if (table !== 'deviceKeys') return tx.put(table, row);
          const kept = change(row as DeviceKey, await tx.get('deviceKeys', row.id));
          if (kept) await tx.put('deviceKeys', kept);
        };
        return { put };
      }),
    );

const diesAtOnce = keepingKeys((row) =>
  row.state === 'retiring' ? { ...row, state: 'revoked', revokedAt: row.createdAt } : row,
);
const staysAlive = keepingKeys((row, before) =>
  row.state === 'revoked' && before?.state === 'retiring' ? undefined : row,
);
const waitsOn = keepingKeys((row, before) =>
  row.state === 'revoked' && before?.firstUsedAt === null ? undefined : row,
);
/** The secret changes after the first rotation, so a repeat cannot return the same key. */
const forgetful: Plant = (store) => {
  let count = 0;
  const watched = keepingKeys((row) => {
    if (row.state === 'retiring') count++;
    return row;
  })(store);
  return new Proxy(watched, {
    get(target, name) {
      if (name === 'secret' && count > 0) return Buffer.from(`secret ${count++}`);
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
};
const sound: Plant = (store) => store;

const scenario: Action[] = [0, 1, 1, 2].map((secret) => ({ do: 'rotate', secret }));

async function told(seededDefect = sound): Promise<readonly string[]> {
  const store = await openStore('memory:');
  try {
    return await runRotations([...scenario, { do: 'use' }, ...scenario], seededDefect(store));
  } finally {
    await store.close();
  }
}

async function inFleet(seededDefect = sound): Promise<readonly string[]> {
  const { url, close } = await serveWithDefect({ store: seededDefect });
  try {
    const options = {
      url,
      token,
      count: 1,
      lifeMs: hourMs,
      rotateEveryMs: 10 * minuteMs,
      faults: ['lost-answer:rotate:30%'],
    };
    return (await quickFleet(options)).reconciliation.findings.map(({ code }) => code);
  } finally {
    await close();
  }
}

const both = {
  'the old key dies when the new one is made': diesAtOnce,
  'the old key goes on working after the new one was used': staysAlive,
};

/** Defects of key rotation. */
export const rotations = [
  seeded('key-check', inFleet, both),
  seeded('rotations/scenario', told, {
    ...both,
    'a new key that was replaced goes on working': waitsOn,
    'a repeat gets another key': forgetful,
  }),
];
