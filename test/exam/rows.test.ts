import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { allTvChecks } from '../../src/exam/checks/all-checks.ts';
import { ExamView } from '../../src/exam/checks/exam-view.ts';
import { timingOf } from '../../src/exam/parts/options.ts';
import { partIds } from '../../src/exam/parts/part-ids.ts';
import { type EndedExam, makeReport } from '../../src/exam/report.ts';
import type { SentEvent, TvExchange } from '../../src/exam/wire/exchange.ts';

const page = new URL('../../docs/conformance.md', import.meta.url);
const header =
  '| Id | Level | Section | The TV must or should | Expected | If it fails |\n' +
  '| --- | --- | --- | --- | --- | --- |\n';

it('lists each check in docs/conformance.md', async () => {
  const text = readFileSync(page, 'utf8');
  expect(text).toContain(header);
  const start = text.indexOf(header) + header.length;
  const end = text.indexOf('\n### What the exam does not judge');
  const rows = allTvChecks.map(
    ({ id, level, section, title, expected, advice }) =>
      `| \`${id}\` | ${level} | §${section} | ${title} | ${expected} | ${advice} |\n`,
  );
  const expected = text.slice(0, start) + rows.join('') + text.slice(end);
  await expect(expected).toMatchFileSnapshot(page.pathname);
});

it('has unique ids, and sections that docs/protocol.md has', () => {
  const protocol = readFileSync(new URL('../../docs/protocol.md', import.meta.url), 'utf8');
  const ids = allTvChecks.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  for (const { section } of allTvChecks) expect(protocol).toContain(`\n### ${section} `);
  for (const { advice, expected } of allTvChecks) {
    expect(advice).toMatch(/^[A-Z`].*\.$/);
    expect(expected).not.toMatch(/\.$/);
  }
});

const timing = timingOf({ onCode: () => {} });
const nothing: EndedExam = {
  ...{ exchanges: [], marks: [], isQuick: true, strangers: 0, isInterrupted: false, timing },
  finished: partIds,
};

it('passes no check of a TV that did nothing', async () => {
  const report = await makeReport(nothing);
  expect(report.checks.filter(({ result }) => result === 'pass')).toEqual([]);
  expect(report).toMatchObject({ isPassed: false, shortcoming: 'No TV registered.' });
  expect(new ExamView(nothing).playback.share(0, 1)).toBeUndefined();
});

/** A TV that sends 18 requests a second, of each kind in turn, with 10 events in a batch. */
function floodOf(count: number): TvExchange[] {
  const operations = ['getPlaylist', 'getDeviceConfig', 'postEvents', 'getDeviceChanges'] as const;
  return Array.from({ length: count }, (_, at) => {
    const operation = operations[at % operations.length];
    const event = { type: 'impression', seconds: at, creativeId: 'c', duration: 5 };
    const events = Array.from({ length: 10 }, (__, seq) => ({
      ...event,
      seq,
      digest: `${at} ${seq}`,
    }));
    return {
      ...{ number: at + 1, operation, method: 'GET', path: '/', address: '', key: 'key' },
      ...{
        hasSecretInPath: false,
        isSecretIdempotencyKey: true,
        bodyDigest: `${at}`,
        bodyBytes: 1,
      },
      ...{
        idempotencyKey: `${at}`,
        ifNoneMatch: '"e"',
        deviceTime: `${at}`,
        pairingCode: undefined,
      },
      ...{
        after: 'c',
        waitSeconds: 50,
        atMs: at * 55,
        endMs: at * 55 + 5,
        end: 'answered' as const,
      },
      fault: at % 7 === 0 ? 'events.500' : undefined,
      events: operation === 'postEvents' ? events : [],
      answer: {
        ...{ status: 200, code: undefined, retryAfterSeconds: 5, etag: '"e"', playlistId: 'p' },
        ...{
          syncMinutes: 1,
          heartbeatMinutes: 1,
          cursor: 'c',
          playlistEtag: '"e"',
          newKey: undefined,
        },
      },
    } as unknown as TvExchange;
  });
}

it('reads each exchange of a TV that floods the service a limited number of times', async () => {
  let reads = 0;
  const counted = <T extends object>(one: T): T =>
    new Proxy(one, {
      get(target, name) {
        reads++;
        return Reflect.get(target, name);
      },
    });
  const readsOf = async (count: number) => {
    const exchanges = floodOf(count).map((one) =>
      counted({ ...one, events: one.events.map(counted) }),
    );
    reads = 0;
    await makeReport({ ...nothing, exchanges });
    return reads;
  };
  // Twice as much is linear. Four times as much is quadratic.
  expect((await readsOf(2000)) / (await readsOf(1000))).toBeLessThan(2.5);
});

it('measures the heartbeat interval only while the TV has a key', () => {
  const [one] = floodOf(1) as [TvExchange];
  const { tvSecondMs } = timing;
  const sent = (atSeconds: number): TvExchange => ({
    ...one,
    operation: 'postEvents',
    atMs: atSeconds * tvSecondMs,
    endMs: atSeconds * tvSecondMs + 1,
    events: [{ type: 'heartbeat', seconds: atSeconds, digest: `${atSeconds}` } as SentEvent],
  });
  const register = (atSeconds: number): TvExchange => ({
    ...sent(atSeconds),
    operation: 'registerDevice',
    events: [],
  });
  const check = allTvChecks.find(({ id }) => id === 'tv.config.heartbeat-interval');
  const judge = (exchanges: TvExchange[]) => check?.judge(new ExamView({ ...nothing, exchanges }));
  const beats = [sent(60), sent(160), sent(260)];
  expect(judge([register(1), ...beats])).toMatchObject({ result: 'fail' });
  const again = [sent(60), sent(120), register(200), sent(320)];
  expect(judge([register(1), ...again])).toMatchObject({ result: 'pass' });
  expect(judge([register(1), sent(60), register(200), sent(320)])).toMatchObject({
    result: 'skip',
  });
});

it('stops judging when the signal aborts', async () => {
  const stop = new AbortController();
  const judged = makeReport({ ...nothing, exchanges: floodOf(1000) }, stop.signal);
  stop.abort();
  const { checks, isInterrupted, isPassed } = await judged;
  expect(checks.at(-1)).toMatchObject({ result: 'skip', seen: 'The judging was interrupted.' });
  expect([isInterrupted, isPassed]).toEqual([true, false]);
});

it('does not count rows that do not apply, and passes no exam with many unjudged rows', async () => {
  const onePart = await makeReport({ ...nothing, exchanges: floodOf(10), parts: ['config'] });
  const ofNetwork = onePart.checks.filter(({ id }) => id.startsWith('tv.network'));
  expect(new Set(ofNetwork.map(({ applies }) => applies))).toEqual(new Set([false]));
  expect(ofNetwork[0]?.seen).toBe('The part "network" was not chosen.');
  const cut = await makeReport({ ...nothing, exchanges: floodOf(10), finished: [] });
  expect(cut.shortcoming).toMatch(/^\d+ of \d+ rows of the level must were not judged, so /);
  expect(cut.isPassed).toBe(false);
});
