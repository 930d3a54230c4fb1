import { secondMs } from '../../domain/clock.ts';
import { BindingCopy } from '../memory/binding-copy.ts';
import { fill, texts } from './texts.ts';
import type { Finding } from './verdicts.ts';

/** Waits of a held request, in seconds, as the player asks for (docs/protocol.md §2.9). */
const waits = [50, 120];
/** A hold that ended before this share of its wait was not held in full. */
const heldShare = 0.8;
/** Time after the wait until an answer counts as lost. */
const patienceMs = 10 * secondMs;
/** `Date` has whole seconds. */
const dateErrorMs = secondMs / 2;
/** A TV whose clock is off by more is told (docs/protocol.md §5.15). */
const toleranceMs = 120 * secondMs;

const msSince = (sinceMs: number) => performance.now() - sinceMs;

/** Compares the clock of this TV with the answer for the page. Rejects without an answer. */
export async function probeClock(pageUrl: string): Promise<Finding & { tookMs: number }> {
  const sinceMs = performance.now();
  const { headers } = await fetch(pageUrl, { cache: 'no-store' });
  const tookMs = msSince(sinceMs);
  const now = new Date();
  const date = Date.parse(headers.get('date') ?? '') + dateErrorMs;
  const offsetMs = now.getTime() - tookMs / 2 - date;
  const inSeconds = (ms: number) => (ms / secondMs).toFixed(1);
  const error = inSeconds(dateErrorMs + tookMs / 2);
  return {
    tookMs,
    text: fill(texts.clockFound, {
      time: now.toLocaleString(),
      seconds: inSeconds(Math.abs(offsetMs)),
      direction: offsetMs < 0 ? texts.slow : texts.fast,
      error,
    }),
    isGood: Math.abs(offsetMs) < toleranceMs,
    words: `time=${now.toISOString()} clock=${inSeconds(offsetMs)}s+-${error}s`,
  };
}

/** Asks for changes. Returns `undefined` as the status if the request is cut. */
async function askForChanges(apiKey: string, url: string, limitMs: number) {
  const ending = new AbortController();
  const timer = setTimeout(() => ending.abort(), limitMs);
  const headers = { Authorization: `Bearer ${apiKey}` };
  try {
    const answer = await fetch(url, { headers, cache: 'no-store', signal: ending.signal });
    const { cursor } = (await answer.json()) as { cursor?: string };
    return { status: answer.status, cursor };
  } catch {
    return { status: undefined, cursor: undefined };
  } finally {
    clearTimeout(timer);
  }
}

/** Tries how long the network lets requests for changes be held, and shows it each second. */
export async function probeNetwork(
  serviceUrl: string,
  tookMs: number,
  show: (finding: Finding) => void,
): Promise<void> {
  const ms = Math.round(tookMs);
  let words = `rtt=${ms}ms`;
  const say = (text: string, seconds: number, more: Partial<Finding> = {}) =>
    show({ text: fill(texts.answers + text, { ms, seconds }), words, ...more });
  const { binding } = new BindingCopy(localStorage).read() ?? {};
  if (!binding) return say(texts.unpaired, 0);
  const url = `${serviceUrl}/devices/${binding.screenId}/changes`;
  for (const wait of waits) {
    const { cursor } = await askForChanges(binding.apiKey, url, patienceMs);
    if (cursor === undefined) return say('', 0);
    const sinceMs = performance.now();
    const timer = setInterval(
      () => say(texts.holding, Math.round(msSince(sinceMs) / secondMs)),
      secondMs,
    );
    const query = `?after=${encodeURIComponent(cursor)}&waitSeconds=${wait}`;
    const limitMs = wait * secondMs + patienceMs;
    const held = await askForChanges(binding.apiKey, url + query, limitMs);
    clearInterval(timer);
    const seconds = Math.round(msSince(sinceMs) / secondMs);
    const isCut = held.status === undefined || held.status === 408 || held.status >= 500;
    if (isCut) words += ` cut=${seconds}s`;
    if (isCut) return say(texts.cut, seconds, { isGood: false });
    // The operator allows less, or something was published.
    if (held.cursor !== cursor || seconds < heldShare * wait)
      return wait === waits[0] ? say(texts.changed, 0) : say(texts.held, waits[0] as number);
    words = `rtt=${ms}ms hold=${seconds}s`;
    say(texts.held, seconds, { isGood: true, report: { holdSeconds: seconds } });
  }
}
