import { describe, expect, it } from 'vitest';
import { type SavedTvExam, type TvExamOptions, timingOf } from '../../../src/exam/parts/options.ts';
import { type PartId, partIds } from '../../../src/exam/parts/part-ids.ts';
import { makeReport, type TvExamReport } from '../../../src/exam/report.ts';
import { runTvExam } from '../../../src/exam/run-exam.ts';
import type { TvExchange } from '../../../src/exam/wire/exchange.ts';
import type { SavedRecording } from '../../../src/exam/wire/recording.ts';
import { ExaminedTv } from '../../exam/examined-tv.ts';
import { temporaryFolder } from '../../support/disk/temporary-folder.ts';

const pace = 20;

async function examine(tv: ExaminedTv, options: Partial<TvExamOptions>): Promise<TvExamReport> {
  const { onCode } = tv;
  try {
    return await runTvExam({ quick: true, pace, retryAfterSeconds: 1, onCode, ...options });
  } finally {
    await tv.off();
  }
}

const idsOf = ({ checks }: TvExamReport, result: 'pass' | 'fail' | 'skip') =>
  checks.filter((check) => check.result === result).map(({ id }) => id);

/** A TV that registers, and never sends another request. Resolves with the path of its screen. */
async function registerOnly(url: string, pairingCode: string) {
  const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': 'k'.repeat(16) };
  const body = JSON.stringify({ pairingCode, deviceInfo: {} });
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, 1000));
    const sent = fetch(`${url}/devices/register`, { method: 'POST', headers, body });
    const answer = await sent.catch(() => undefined);
    if (answer?.status === 201)
      return (await answer.json()) as { screenId: string; apiKey: string };
  }
}

/**
 * A TV that registers, then fetches its playlist and posts a heartbeat in each minute of TV time,
 * and its config too if `hasConfig`. It plays nothing. Resolves at the end of the exam.
 */
async function idleTv(url: string, pairingCode: string, minuteMs: number, hasConfig: boolean) {
  const json = { 'Content-Type': 'application/json' };
  let device: { screenId: string; apiKey: string } | undefined;
  for (let count = 0; ; count++) {
    const key = { 'Idempotency-Key': `idle-tv-request-${device ? count : 0}` };
    const bearer = { Authorization: `Bearer ${device?.apiKey}` };
    const send = (path: string, more: RequestInit = {}) =>
      fetch(url + path, { ...more, headers: { ...json, ...key, ...bearer } });
    const post = (body: unknown) => ({ method: 'POST', body: JSON.stringify(body) });
    try {
      if (device) {
        const own = `/devices/${device.screenId}`;
        await send(`${own}/playlist`);
        if (hasConfig) await send(`${own}/config`);
        await send(`${own}/events`, post([{ type: 'heartbeat', timestamp: count }]));
      } else {
        const answer = await send('/devices/register', post({ pairingCode, deviceInfo: {} }));
        if (answer.status === 201) device = (await answer.json()) as typeof device;
      }
    } catch (error) {
      const { code } = ((error as Error).cause ?? {}) as { code?: string };
      if (code === 'ECONNREFUSED') return;
    }
    await new Promise((resolve) => setTimeout(resolve, device ? minuteMs : 1000));
  }
}

const notOf =
  (...operations: (string | undefined)[]) =>
  ({ operation }: TvExchange) =>
    !operations.includes(operation);

/** The requests without which a row has observed nothing, by the beginning of its id. */
const withoutEvidence: [
  ids: string,
  keeps: (exchange: TvExchange, revokedMs: number) => boolean,
][] = [
  ['tv.register.uses-key', ({ operation }) => operation === 'registerDevice'],
  ['tv.register', notOf('registerDevice')],
  ['tv.config.heartbeat-interval', notOf('postEvents')],
  ['tv.config.sync-interval', notOf('getPlaylist')],
  ['tv.config.new-interval', notOf('getPlaylist')],
  ['tv.config', notOf('getDeviceConfig')],
  ['tv.playlist.fetched', notOf('getPlaylist')],
  ['tv.playlist.conditional', notOf('getPlaylist')],
  ['tv.playlist.asks-after-404', notOf('getPlaylist')],
  ['tv.playlist', notOf('postEvents')],
  ['tv.events', notOf('postEvents')],
  ['tv.seq', notOf('postEvents')],
  ['tv.device-time', notOf('postEvents')],
  ['tv.retry-after', ({ operation }) => operation === 'registerDevice'],
  ['tv.backoff', ({ operation }) => operation === 'registerDevice'],
  ['tv.errors', notOf('getDeviceConfig')],
  ['tv.401.revoked-drops-key', ({ atMs }, revokedMs) => atMs < revokedMs],
  ['tv.401', notOf('getDeviceConfig')],
  ['tv.key', ({ operation }) => operation === 'registerDevice'],
  ['tv.revoke.stops-playing', notOf('postEvents')],
  ['tv.revoke', ({ atMs }, revokedMs) => atMs < revokedMs],
  ['tv.network.comes-back', ({ operation }) => operation === 'registerDevice'],
  ['tv.network.keeps-key', ({ operation }) => operation === 'registerDevice'],
  ['tv.network', notOf('postEvents')],
  ['tv.upcoming', notOf('postEvents')],
  ['tv.changes', notOf('getDeviceChanges')],
  ['tv.rotate', notOf('rotateDeviceKey')],
  ['tv.power.keeps-key', ({ operation }) => operation === 'registerDevice'],
  ['tv.power', notOf('postEvents')],
  ['tv.http', () => false],
];

/** Returns the rows that pass although the exam has not recorded what they are about. */
async function passedWithoutEvidence(recording: SavedRecording): Promise<string[]> {
  const { exchanges, marks } = recording;
  const revokedMs = marks.find(({ name }) => name === 'revoked')?.atMs ?? 0;
  const passed: string[] = [];
  for (const [beginning, keeps] of withoutEvidence) {
    const { checks } = await makeReport({
      exchanges: exchanges.filter((one) => keeps(one, revokedMs)),
      marks,
      timing: timingOf({ pace: 12, onCode: () => {} }),
      ...{ isQuick: true, strangers: 0, isInterrupted: false, finished: partIds },
    });
    const isOf = ({ id }: { id: string }) =>
      withoutEvidence.find(([one]) => id.startsWith(one))?.[0] === beginning;
    passed.push(...checks.filter((one) => isOf(one) && one.result === 'pass').map(({ id }) => id));
  }
  return passed;
}

// The exams wait most of their time, so they run side by side.
describe.concurrent('an exam of the simulated TV', () => {
  it('passes each check that the TV gives occasion to', async () => {
    // Slower than the others, because the machine may be busy.
    const steadyPace = 12;
    const tv = new ExaminedTv(steadyPace, { options: { rotateEveryMs: 180_000 } });
    const codes: string[] = [];
    const saved: SavedTvExam[] = [];
    const report = await examine(tv, {
      pace: steadyPace,
      power: tv,
      onCode(code, url) {
        codes.push(code);
        tv.onCode(code, url);
      },
      memory: { load: async () => undefined, save: async (exam) => void saved.push(exam) },
    });
    // Random delays of some milliseconds may happen to be equal.
    const isCertain = ({ id }: { id: string }) => id !== 'tv.backoff.jitter';
    const failed = report.checks.filter(({ result }) => result === 'fail').filter(isCertain);
    expect(failed).toEqual([]);
    const unjudged = idsOf(report, 'skip').filter((id) => !id.startsWith('tv.changes.'));
    expect(unjudged).toEqual([
      'tv.config.keeps-on-500',
      'tv.401.missing-keeps-key',
      'tv.401.uncoded-keeps-key',
    ]);
    expect(report.summary).toMatch(
      /^signage TV exam \(quick\): (\d+) of \1 must, (\d+) of \2 should, \d+ not judged$/,
    );
    // Codes, keys and idempotency keys are not in the saved exam.
    const text = JSON.stringify(saved.at(-1));
    expect(codes.length).toBe(2);
    const { recording } = saved.at(-1) as { recording: SavedRecording };
    expect(await passedWithoutEvidence(recording)).toEqual([]);
    const ids = report.checks.map(({ id }) => id);
    expect(ids.filter((id) => !withoutEvidence.some(([one]) => id.startsWith(one)))).toEqual([]);
    for (const code of codes) expect(text).not.toContain(code);
    expect(text).not.toMatch(/dak_[0-9A-Za-z]/);
    expect(text).not.toMatch(/"[0-9a-f]{32}"/);
  }, 120_000);

  it('goes on after the last finished part when it is resumed', async () => {
    const store = await temporaryFolder();
    const tv = new ExaminedTv(pace);
    let saved: SavedTvExam | undefined;
    const memory = {
      load: async () => saved,
      async save(exam: SavedTvExam) {
        saved = structuredClone(exam);
      },
    };
    const parts: PartId[] = ['network', 'revoke'];
    const stop = new AbortController();
    const steps: string[] = [];
    const common = { quick: true, pace, retryAfterSeconds: 1, onCode: tv.onCode, store, memory };
    let port = 0;
    const first = await runTvExam({
      ...common,
      parts,
      signal: stop.signal,
      onCode(code, url) {
        port = Number(new URL(url).port);
        tv.onCode(code, url);
      },
      onStep: ({ part }) => part === 'network' && stop.abort(),
    });
    expect(first.isInterrupted).toBe(true);
    expect(saved?.finished).toEqual(['register']);
    expect(idsOf(first, 'pass')).toContain('tv.register.repeats-lost-answer');
    expect(idsOf(first, 'skip')).toContain('tv.network.comes-back');

    const onStep = ({ part }: { part: string }) => void steps.push(part);
    const second = await examine(tv, { ...common, parts, port, onStep });
    expect(second.isInterrupted).toBe(false);
    expect(steps[0]).toBe('network');
    expect(idsOf(second, 'fail')).toEqual([]);
    expect(idsOf(second, 'pass')).toEqual(
      expect.arrayContaining([
        'tv.register.repeats-lost-answer',
        'tv.network.comes-back',
        'tv.revoke.pairs-again',
      ]),
    );
    await expect(runTvExam({ ...common, quick: false, onCode: tv.onCode })).rejects.toMatchObject({
      code: 'invalid_option',
      message: expect.stringContaining('Resume it with the same kind, or start a new exam'),
    });
  }, 120_000);
});

describe.concurrent('an exam of a TV that cannot pass', () => {
  it.each([
    [false, 'tv.config.fetched', 'The TV never fetched its config'],
    [true, 'tv.playlist.impressions', 'The TV never reported that it played an item'],
  ])(
    'ends within 9 minutes of TV time, with config: %s',
    async (hasConfig, failed, reason) => {
      const minuteMs = 60_000 / pace;
      const steps: string[] = [];
      let registeredMs = 0;
      const report = await runTvExam({
        ...{ quick: true, pace, retryAfterSeconds: 1 },
        onCode: (code, url) => void idleTv(url, code, minuteMs, hasConfig),
        onStep({ part, text }) {
          if (part !== 'register') registeredMs ||= Date.now();
          steps.push(`The TV ${text}`);
        },
      });
      expect((Date.now() - registeredMs) / minuteMs).toBeLessThan(9);
      expect(report).toMatchObject({ isPassed: false, isInterrupted: false });
      expect(idsOf(report, 'fail')).toContain(failed);
      expect(steps.at(-1)).toBe(`${reason}, so the exam ends`);
      expect(report.checks.find(({ id }) => id === 'tv.revoke.pairs-again')).toMatchObject({
        result: 'skip',
        seen: expect.stringContaining(reason.replace('The', 'the')),
      });
    },
    60_000,
  );
});

describe.concurrent('an exam without a TV', () => {
  it('ends early when the TV falls silent after its registration', async () => {
    const codes: string[] = [];
    const report = await runTvExam({
      ...{ quick: true, pace: 30, retryAfterSeconds: 1, pairingSeconds: 1.5 },
      onCode(code, url) {
        codes.push(code);
        if (codes.length === 1) void registerOnly(url, code);
      },
    });
    expect(codes.length).toBe(1);
    expect(report.shortcoming).toMatch(
      /^The exam ended early, because the TV never fetched its config/,
    );
    expect(idsOf(report, 'pass')).toEqual([
      'tv.register.valid-request',
      'tv.register.idempotency-key',
      'tv.register.retry-after',
      'tv.register.repeats-lost-answer',
      'tv.http.secret-not-in-url',
    ]);
    expect(idsOf(report, 'fail')).toEqual(
      expect.arrayContaining(['tv.register.uses-key', 'tv.config.fetched', 'tv.playlist.fetched']),
    );
  }, 60_000);

  it('fails, and says that no registration came', async () => {
    const report = await runTvExam({ pairingSeconds: 0.2, onCode: () => {} });
    expect(report).toMatchObject({ isPassed: false, requests: 0, isInterrupted: false });
    expect(idsOf(report, 'pass')).toEqual([]);
    expect(report.checks[0]).toMatchObject({
      id: 'tv.register.valid-request',
      result: 'fail',
      seen: 'No registration came.',
    });
  });

  it('rejects with port_taken when another program listens there', async () => {
    let port = 0;
    const stop = new AbortController();
    const other = runTvExam({
      signal: stop.signal,
      onCode: (_, url) => {
        port = Number(new URL(url).port);
      },
    });
    await expect.poll(() => port).toBeGreaterThan(0);
    await expect(runTvExam({ port, onCode: () => {} })).rejects.toMatchObject({
      code: 'port_taken',
    });
    stop.abort();
    expect((await other).isInterrupted).toBe(true);
  });
});
