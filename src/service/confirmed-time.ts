import { type Clock, dayMs, hourMs, iso, minuteMs, secondMs } from '../domain/clock.ts';
import type { LogSink } from '../domain/log.ts';
import type { ClockRow } from '../domain/records/rows.ts';
import type { Reader, Store } from '../store/store.ts';

const clockId = 'clock';
/** A clock that moves further between two looks has jumped, or nobody has looked. */
const jumpMs = hourMs;
/** Running time after which a clock that has jumped is believed. */
const waitMs = dayMs;
/** Interval at which the row of a steady clock is written. */
const writeMs = 10 * minuteMs;
/** A clock before this time was never set: a machine without a battery starts in 1970. */
const unsetBeforeMs = Date.UTC(2020, 0, 1);

const isNear = (timeMs: number, otherMs: number) => Math.abs(timeMs - otherMs) <= jumpMs;

/**
 * Returns the time by which records may be deleted for their age, and other steps taken that a
 * corrected clock does not take back. It is `nowMs`, except that it stays behind after a jump
 * forwards by more than an hour, until the service has run for a day without a jump back.
 */
export async function confirmedTime(reader: Pick<Reader, 'get'>, nowMs: number): Promise<number> {
  const row = await reader.get('clocks', clockId);
  return row && !isNear(nowMs, row.confirmedAt) ? Math.min(nowMs, row.confirmedAt) : nowMs;
}

/**
 * Returns the time before which events, notices and audit entries are past their retention. After
 * the clock was set for the first time, or from far behind, it is 0 for the whole retention,
 * because nobody knows how old the records of before are.
 */
export async function retainedFrom(
  reader: Pick<Reader, 'get'>,
  nowMs: number,
  retentionMs: number,
): Promise<number> {
  const setAt = (await reader.get('clocks', clockId))?.setAt ?? null;
  if (setAt !== null && nowMs - setAt < retentionMs) return 0;
  return Math.max(0, (await confirmedTime(reader, nowMs)) - retentionMs);
}

/** Returns the time since which a jump of the clock delays deletions, or `null`. */
export async function deletionsWaitSince(
  reader: Pick<Reader, 'get'>,
  nowMs: number,
): Promise<number | null> {
  const row = await reader.get('clocks', clockId);
  return row && nowMs - row.confirmedAt > jumpMs ? (row.steadySince ?? nowMs) : null;
}

function afterLook(row: ClockRow, nowMs: number): ClockRow {
  const passedMs = nowMs - row.lookedAt;
  // What came after the clock went back is younger than its time says, once it leaps forwards.
  const leaps = row.wentBack && passedMs > jumpMs;
  const setAt = leaps ? nowMs : row.setAt === null ? null : Math.min(row.setAt, nowMs);
  const steady = {
    ...row,
    confirmedAt: nowMs,
    steadySince: null,
    ranMs: 0,
    wentBack: false,
    lookedAt: nowMs,
    setAt,
  };
  if (isNear(nowMs, row.confirmedAt)) return steady;
  if (row.steadySince === null || passedMs < -jumpMs) {
    const wasSet = row.confirmedAt < unsetBeforeMs && nowMs >= unsetBeforeMs;
    return {
      ...steady,
      confirmedAt: row.confirmedAt,
      steadySince: nowMs,
      wentBack: row.wentBack || passedMs < -jumpMs,
      setAt: wasSet ? nowMs : setAt,
    };
  }
  // A machine that is off at night runs for a day in several pieces.
  const ranMs = row.ranMs + (isNear(passedMs, 0) ? Math.max(0, passedMs) : 0);
  if (ranMs < waitMs) return { ...row, ranMs, lookedAt: nowMs, setAt };
  if (isNear(nowMs - row.steadySince, ranMs)) return steady;
  return { ...steady, confirmedAt: row.steadySince, steadySince: nowMs };
}

/**
 * Returns a function that looks at the clock of the store, and logs when deletions begin or cease
 * to wait. Call it more often than once an hour.
 */
export function makeClockLook(
  { store, clock }: { store: Store; clock: Clock },
  log: LogSink,
): () => Promise<void> {
  let isWaiting = false;

  function tell(row: ClockRow, nowMs: number): void {
    const wasWaiting = isWaiting;
    isWaiting = nowMs - row.confirmedAt > jumpMs;
    if (isWaiting === wasWaiting) return;
    const fields = { confirmedTime: iso(row.confirmedAt) };
    if (isWaiting)
      log.warn(
        { ...fields, aheadSeconds: Math.round((nowMs - row.confirmedAt) / secondMs) },
        'The clock has jumped by more than an hour, or the service was stopped. What is past its retention is deleted after the service has run for a day. If the time is wrong, correct the clock before.',
      );
    else log.info(fields, 'Deletions no longer wait for the clock.');
  }

  return async () => {
    // Data of version 0.1.0 have no row. The watch over screens then tells the last time.
    const [known, watch] = await Promise.all([
      store.read.get('clocks', clockId),
      store.read.get('watches', 'watch'),
    ]);
    const nowMs = clock.now();
    const isWritten =
      known?.inputsSince !== undefined &&
      known.steadySince === null &&
      isNear(nowMs, known.confirmedAt) &&
      Math.abs(nowMs - known.lookedAt) < writeMs;
    if (isWritten) return tell(known, nowMs);
    const row = await store.write(async (tx) => {
      const start = watch?.lookedAt ?? tx.now;
      const fresh = {
        id: clockId,
        confirmedAt: start,
        steadySince: null,
        ranMs: 0,
        wentBack: false,
        lookedAt: start,
        setAt: null,
      };
      const before = await tx.get('clocks', clockId);
      const next = afterLook(before ?? fresh, tx.now);
      // A store that nothing has looked at before is new.
      const { inputsSince = before || watch ? tx.now : 0 } = next;
      await tx.put('clocks', { ...next, inputsSince });
      return next;
    });
    tell(row, clock.now());
  };
}
