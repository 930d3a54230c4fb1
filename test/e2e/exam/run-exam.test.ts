import { describe, expect, it } from 'vitest';
import type { SavedTvExam, TvExamOptions } from '../../../src/exam/parts/options.ts';
import type { PartId } from '../../../src/exam/parts/part-ids.ts';
import type { TvExamReport } from '../../../src/exam/report.ts';
import { runTvExam } from '../../../src/exam/run-exam.ts';
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

/** A TV that registers, and never sends another request. */
async function registerOnly(url: string, pairingCode: string): Promise<void> {
  const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': 'k'.repeat(16) };
  const body = JSON.stringify({ pairingCode, deviceInfo: {} });
  for (let status: number | undefined; status !== 201; ) {
    await new Promise((resolve) => setTimeout(resolve, 1000));
    const answer = fetch(`${url}/devices/register`, { method: 'POST', headers, body });
    status = await answer.then((one) => one.status).catch(() => undefined);
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
  it('ends when the TV falls silent after its registration, and does not enter a new code', async () => {
    const codes: string[] = [];
    const report = await runTvExam({
      ...{ quick: true, pace: 30, retryAfterSeconds: 1, pairingSeconds: 1.5 },
      onCode(code, url) {
        codes.push(code);
        if (codes.length === 1) void registerOnly(url, code);
      },
    });
    expect(codes.length).toBe(2);
    expect(idsOf(report, 'pass')).toEqual([
      'tv.register.valid-request',
      'tv.register.idempotency-key',
      'tv.register.retry-after',
      'tv.register.repeats-lost-answer',
      'tv.http.secret-not-in-url',
    ]);
    expect(idsOf(report, 'fail')).toEqual(
      expect.arrayContaining(['tv.register.uses-key', 'tv.config.fetched', 'tv.events.sends']),
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
