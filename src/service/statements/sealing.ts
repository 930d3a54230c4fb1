import { deflateRawSync } from 'node:zlib';
import { dayMs, hourMs, iso, minuteMs } from '../../domain/clock.ts';
import type { LogSink } from '../../domain/log.ts';
import { startPeriodicJob } from '../../domain/periodic-job.ts';
import { dayOf } from '../../domain/records/report.ts';
import { headHash, headText } from '../../domain/statements/head.ts';
import { RowTally } from '../../domain/statements/row-tally.ts';
import type { StatementLog } from '../../domain/statements/rows.ts';
import { slicesOf } from '../../store/store.ts';
import { confirmedTime, retainedFrom } from '../confirmed-time.ts';
import { bySystem, recordChange, type SystemDependencies } from '../context.ts';
import { makeCoverage } from '../planned/coverage.ts';
import { makeNames } from '../reports/names.ts';
import { dayOfPlay, eventsPerPage, playRow } from '../reports/play-list.ts';
import { aheadMs, purgedBefore } from '../reports/report-scope.ts';
import { namedRowId } from '../versions/versions.ts';
import { type StatementOptions, signerOf } from './statement-key.ts';

/** Local days end and begin at most so much after and before those of UTC. */
const [endsAfterMs, beginsBeforeMs] = [12 * hourMs, 14 * hourMs];
const rowsPerPart = 2000;
const logsAtOnce = 200;

export const dayAfter = (day: string) => dayOf(Date.parse(day) + dayMs);
export const headId = ({ id, name }: StatementLog, number: number) =>
  `${id}/${name}.${String(number).padStart(9, '0')}`;
/** Owner of the parts with the rows of a head. */
export const partsOf = (head: string) => head.replace('/', '.');

/** The rows of one statement. */
class Rows {
  readonly tally = new RowTally();
  readonly parts: string[] = [];
  #lines: string[] = [];

  add(row: Parameters<RowTally['write']>[0]): void {
    if (this.#lines.push(this.tally.write(row)) === rowsPerPart) this.end();
  }

  end(): void {
    if (this.#lines.length > 0)
      this.parts.push(deflateRawSync(this.#lines.join('')).toString('base64'));
    this.#lines = [];
  }
}

interface OpenLog {
  log: StatementLog;
  /** Id of the newest event that was read. */
  until: string;
  /** Rows by day: those of the day to seal, and those that came too late for an earlier one. */
  days: Map<string, Rows>;
}

/** What a head says beside its rows. What is not known is left out. */
type HeadFigures = Partial<Record<'client' | 'planned-seconds' | 'unattributed', string>>;

/**
 * Starts the sealing of statements, for the instance that watches. A day is sealed in one
 * transaction, which checks that nobody else has sealed it. Returns a function that stops it.
 */
export function startSealing(
  deps: SystemDependencies,
  options: StatementOptions,
  log: LogSink,
): () => Promise<void> {
  const { store, clock } = deps;
  let isStopped = false;
  let reported = '';

  const coverage = makeCoverage(deps);
  /** Coverage of the last day that was asked for, which many campaigns share. */
  let covered: { key: string; report: ReturnType<typeof coverage> } | undefined;

  async function headFigures(
    { tenantId, campaignId }: StatementLog,
    day: string,
  ): Promise<HeadFigures> {
    const key = `${tenantId} ${day}`;
    const days = { days: 'venue', from: day, to: dayAfter(day) } as const;
    if (covered?.key !== key) {
      const caller = { tenantId, venueIds: null };
      covered = { key, report: coverage(caller, { groupBy: 'campaign', ...days }) };
    }
    const { items, unattributed } = await covered.report;
    const row = items.find((one) => one.key === campaignId);
    const campaign = await store.read.get('campaigns', namedRowId(tenantId, campaignId));
    return {
      ...(campaign?.client != null && { client: JSON.stringify(campaign.client) }),
      ...(row && !row.incomplete && { 'planned-seconds': String(row.plannedSeconds) }),
      ...(unattributed !== null && { unattributed: String(unattributed) }),
    };
  }

  async function isDue({ tenantId, isPaused, nextDay, to, settleHours }: StatementLog) {
    const endMs = Date.parse(nextDay) + dayMs + endsAfterMs + settleHours * hourMs;
    if (isPaused || (to !== null && nextDay >= to)) return false;
    if (endMs > (await confirmedTime(store.read, clock.now()))) return false;
    return (await store.read.get('tenants', tenantId)) !== undefined;
  }

  /** Returns the logs that are due and can be signed, by tenant. */
  async function dueLogs(): Promise<Map<string, OpenLog[]>> {
    const due = new Map<string, OpenLog[]>();
    let problem = '';
    for await (const slice of slicesOf(store, 'statementLogs', { limit: logsAtOnce }))
      for (const one of slice) {
        await purgeRows(one);
        if (!(await isDue(one))) continue;
        try {
          await signerOf(options, one);
          const open = { log: one, until: one.until, days: new Map([[one.nextDay, new Rows()]]) };
          due.set(one.tenantId, [...(due.get(one.tenantId) ?? []), open]);
        } catch (error) {
          problem = (error as Error).message;
        }
      }
    if (problem !== '' && problem !== reported) log.error({ problem }, 'No statement is sealed.');
    reported = problem;
    return due;
  }

  /** Deletes the rows of statements that are older than the retention of events. */
  async function purgeRows({ id, kept }: StatementLog): Promise<void> {
    const fromMs = await retainedFrom(store.read, clock.now(), options.retentionDays * dayMs);
    if (!kept.some(([, sealedAt]) => sealedAt < fromMs)) return;
    await store.write(async (tx) => {
      const row = await tx.get('statementLogs', id);
      if (!row) return;
      const old = row.kept.filter(([, sealedAt]) => sealedAt < fromMs);
      for (const part of await tx.select(
        'statements',
        'owner',
        old.map(([head]) => partsOf(head)),
      ))
        await tx.delete('statements', part.id);
      await tx.put('statementLogs', { ...row, kept: row.kept.filter((one) => !old.includes(one)) });
    });
  }

  /** Reads the plays of a tenant once, for all of its logs. */
  async function readPlays(tenantId: string, logs: readonly OpenLog[]): Promise<void> {
    const byCampaign = new Map(logs.map((one) => [one.log.campaignId, one]));
    const [first = ''] = logs.map((one) => one.log.nextDay).sort();
    const nameOf = makeNames(store.read, tenantId);
    const query = { tenantId, order: 'asc', limit: eventsPerPage, type: 'impression' } as const;
    for (let after: string | null | undefined; after !== null && !isStopped; ) {
      const page = await store.events({
        ...query,
        from: Date.parse(first) - aheadMs,
        ...(after && { after }),
      });
      for (const event of page.items) {
        const open = byCampaign.get(String(event.event.campaignId).toLowerCase());
        if (!open || event.simulated) continue;
        const { day } = dayOfPlay(event, 'venue');
        const { from, nextDay, until } = open.log;
        open.until = event.id;
        if (day < from || day > nextDay || (day < nextDay && event.id <= until)) continue;
        const rows = open.days.get(day) ?? new Rows();
        open.days.set(day, rows);
        rows.add(await playRow(event, nameOf));
      }
      after = page.next;
    }
  }

  async function seal({ log: known, until, days }: OpenLog): Promise<void> {
    const { tenantId, campaignId, nextDay } = known;
    const signer = await signerOf(options, known);
    const name = await makeNames(store.read, tenantId)('campaign', campaignId);
    const lostMs = Math.max(known.lostUntil, await purgedBefore(store));
    const sorted = [...days].sort(([one], [other]) => (one < other ? -1 : 1));
    for (const [, rows] of sorted) rows.end();
    const { client, ...planned } = await headFigures(known, nextDay);
    await store.write(async (tx) => {
      const row = await tx.get('statementLogs', known.id);
      const isSame = row?.number === known.number && row.name === known.name;
      if (!isSame || row.isPaused || row.nextDay !== nextDay) return;
      const next = { ...row, nextDay: dayAfter(nextDay), until };
      for (const [day, { tally, parts }] of sorted) {
        next.number++;
        const text = headText({
          issuer: signer.issuer,
          tenant: tenantId,
          campaign: campaignId,
          name: name === null ? undefined : JSON.stringify(name),
          client,
          day,
          'time-zone': 'venue',
          number: String(next.number),
          kind: day === nextDay ? 'day' : 'amendment',
          ...tally.figures(),
          ...(day === nextDay && planned),
          basis: 'device-reported',
          incomplete:
            Date.parse(day) - beginsBeforeMs < lostMs ? 'plays may be missing' : undefined,
          previous: next.previous,
          sealed: iso(tx.now),
        });
        next.previous = headHash(text);
        const id = headId(next, next.number);
        await tx.put('statements', { id, owner: next.id, text: signer.sign(text) });
        const owner = partsOf(id);
        for (const [place, part] of parts.entries())
          await tx.put('statements', { id: `${owner}/${1e6 + place}`, owner, text: part });
        next.kept = [...next.kept, [id, tx.now]];
        await recordChange(deps, tx, bySystem, {
          action: 'statement.seal',
          subject: { kind: 'statement', id: next.id },
          tenantId,
          details: { day, number: next.number, plays: tally.plays },
        });
      }
      await tx.put('statementLogs', next);
    });
  }

  async function sealAll(): Promise<void> {
    for (let due = await dueLogs(); due.size > 0 && !isStopped; due = await dueLogs())
      for (const [tenantId, logs] of due) {
        covered = undefined;
        await readPlays(tenantId, logs);
        for (const one of logs) if (!isStopped) await seal(one);
      }
  }

  const onError = (error: unknown) =>
    log.warn({ err: error }, 'Statements could not be sealed; this is retried in a minute.');
  const first = sealAll().catch(onError);
  const stop = startPeriodicJob(clock, minuteMs, () => first.then(sealAll), onError);
  return async () => {
    isStopped = true;
    await first;
    await stop();
  };
}
