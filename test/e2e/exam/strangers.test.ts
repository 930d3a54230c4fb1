// What an exam does when other devices and broken programs use its port, or a TV floods it.
import { once } from 'node:events';
import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { runTvExam } from '../../../src/exam/run-exam.ts';
import { ExaminedTv } from '../../exam/examined-tv.ts';

/** Sends a registration, and returns its status. */
async function register(url: string, pairingCode: string, localAddress?: string): Promise<number> {
  const headers = { 'Content-Type': 'application/json' };
  const own = localAddress === undefined ? {} : { localAddress };
  const outgoing = request(`${url}/devices/register`, { method: 'POST', headers, ...own });
  outgoing.end(JSON.stringify({ pairingCode, deviceInfo: {} }));
  const [answer] = await once(outgoing, 'response');
  answer.resume();
  return answer.statusCode;
}

/** Sends a body, and resolves with the status, or `undefined` if the connection was cut. */
function post(url: string, body: string): Promise<number | undefined> {
  return fetch(url, { method: 'POST', body, headers: { 'Content-Type': 'application/json' } }).then(
    ({ status }) => status,
    () => undefined,
  );
}

/** Opens a connection that sends only this text. */
function open(url: string, sent: string): Socket {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname).on('error', () => {});
  socket.write(sent);
  return socket;
}

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

/** A TV that registers, and then sends requests without a pause. */
async function flood(url: string, pairingCode: string): Promise<void> {
  const { screenId, apiKey } = await registerOnly(url, pairingCode);
  const headers = { Authorization: `Bearer ${apiKey}` };
  for (let isUp = true; isUp; )
    isUp = await fetch(`${url}/devices/${screenId}/playlist`, { headers }).then(
      async (answer) => (await answer.text()) !== undefined,
      () => false,
    );
}

it('judges only its own TV, and survives nonsense, floods and silent connections', async () => {
  const tv = new ExaminedTv(20);
  const sockets: Socket[] = [];
  let attacked: Promise<void> | undefined;
  let code = '';

  async function attack(url: string): Promise<void> {
    for (const sent of ['', 'GET /devices/x/config HTTP/1.1\r\nHo', 'nonsense\r\n\r\n'])
      sockets.push(open(url, sent));
    expect(await post(`${url}/devices/x/events`, 'x'.repeat(1_000_000))).toBe(401);
    expect(await post(`${url}/devices/register`, '['.repeat(1_000_000))).toBe(413);
    expect(await post(`${url}/devices/register`, 'x'.repeat(5_000_000))).toBeUndefined();
    const statuses = await Promise.all(
      Array.from({ length: 100 }, (_, at) => register(url, `ABCDE${100 + at}`)),
    );
    expect(new Set(statuses)).toEqual(new Set([404, 429]));
  }

  try {
    const report = await runTvExam({
      ...{ quick: true, pace: 20, retryAfterSeconds: 1, parts: ['network'] },
      onCode(shown, url) {
        code = shown;
        attacked = attack(url).then(() => tv.onCode(shown, url));
      },
      onStep({ part }) {
        if (part === 'network') void register(tv.url, code, '127.0.0.2').catch(() => {});
      },
    });
    await attacked;
    const failed = report.checks.filter(({ result }) => result === 'fail');
    expect(failed.filter(({ level }) => level === 'must')).toEqual([]);
    expect(report.strangers).toBeGreaterThan(100);
  } finally {
    await tv.off();
    for (const socket of sockets) socket.destroy();
  }
}, 120_000);

it('answers again soon after any number of silent connections', async () => {
  const stop = new AbortController();
  let examined: Promise<unknown> | undefined;
  const url = await new Promise<string>((resolve) => {
    examined = runTvExam({ signal: stop.signal, onCode: (_code, shown) => resolve(shown) });
  });
  const sockets = Array.from({ length: 600 }, () => open(url, ''));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  await expect(register(url, 'ABCDE234')).rejects.toThrow();
  await expect
    .poll(() => register(url, 'ABCDE234').catch(() => undefined), { timeout: 15_000 })
    .toBe(404);
  stop.abort();
  await examined;
});

it('ends soon when the TV sends requests without a pause', async () => {
  let lastMs = 0;
  const report = await runTvExam({
    ...{ quick: true, retryAfterSeconds: 1 },
    onCode: (code, url) => void flood(url, code),
    onStep: () => {
      lastMs = performance.now();
    },
  });
  expect(performance.now() - lastMs).toBeLessThan(5000);
  expect(report.shortcoming).toBe('The exam ended early, because the TV sent 3000 requests.');
  expect(report.isPassed).toBe(false);
}, 60_000);
