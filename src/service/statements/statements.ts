import { inflateRawSync } from 'node:zlib';
import { invalid, SignageError } from '../../domain/error.ts';
import { eventId } from '../../domain/events/event-id.ts';
import { asGuid } from '../../domain/id.ts';
import { campaignIdOf } from '../../domain/playlists/campaign.ts';
import type { AuditAction } from '../../domain/records/audit.ts';
import { dayOf } from '../../domain/records/report.ts';
import { headHash, readHead } from '../../domain/statements/head.ts';
import type { StatementLog } from '../../domain/statements/rows.ts';
import { openNote, readVerifierKey } from '../../domain/statements/signed-note.ts';
import type {
  StatementList,
  StatementLogView,
  StatementQuery,
  StatementResume,
  StatementStart,
  StatementView,
} from '../../domain/statements/statement.ts';
import type { Tx } from '../../store/store.ts';
import { recordChange, type ServiceDependencies, type TenantPrincipal } from '../context.ts';
import { requireTenant } from '../lookup.ts';
import { dayAfter, headId, partsOf } from './sealing.ts';
import { type StatementOptions, signerOf } from './statement-key.ts';

const notFound = (detail: string) => new SignageError('statement_not_found', detail);
const wrong = (path: string, message: string) => invalid([{ path, message }]);

function statementView({ id, text }: { id: string; text: string }): StatementView {
  const { campaign, day, number, plays, sealed = '' } = readHead(text);
  const figures = { number: Number(number), plays: Number(plays) };
  return { id, campaignId: campaign, day, ...figures, sealedAt: sealed, note: text };
}

/** Statements of plays (docs/protocol.md §5.19). */
export function makeStatements(deps: ServiceDependencies, options: StatementOptions) {
  const { store, write } = deps;
  const { read } = store;
  const idOf = (tenantId: string, campaign: string) => {
    const campaignId = asGuid(campaign) ?? campaignIdOf(tenantId, campaign);
    return { id: `${tenantId}.${campaignId}`, tenantId, campaignId };
  };

  async function logView(log: StatementLog): Promise<StatementLogView> {
    const { campaignId, settleHours, from, to, nextDay, number, keys, isPaused } = log;
    const problem = isPaused
      ? 'A backup was restored: continue with signage statement resume.'
      : await signerOf(options, log).then(
          () => null,
          (error: Error) => error.message,
        );
    return { campaignId, settleHours, from, to, nextDay, number, keys, problem };
  }

  /** Stores a changed log, with the entry of the audit trail. */
  async function put(tx: Tx, by: TenantPrincipal, action: AuditAction, log: StatementLog) {
    await tx.put('statementLogs', log);
    const { id, tenantId, name, nextDay, settleHours } = log;
    const subject = { kind: 'statement', id };
    await recordChange(deps, tx, by, {
      ...{ action, subject, tenantId },
      details: { name, nextDay, settleHours },
    });
    return log;
  }

  return {
    /** Starts the statements of a campaign, or changes when they are sealed. */
    async start(
      principal: TenantPrincipal,
      { campaign, settleHours = 72, from, to }: StatementStart,
    ): Promise<StatementLogView> {
      const ids = idOf(principal.tenantId, campaign);
      if (settleHours / 24 + 2 > options.retentionDays)
        throw wrong('settleHours', 'needs a retention of two days more: see --retention-days');
      const known = await read.get('statementLogs', ids.id);
      const { verifierKey } = await signerOf(options, known ?? ids);
      const log = await write(principal, async (tx) => {
        await requireTenant(tx, principal);
        const day = from ?? dayOf(tx.now);
        const fresh = { ...ids, from: day, nextDay: day, name: '', keys: [verifierKey], number: 0 };
        const row = (await tx.get('statementLogs', ids.id)) ?? {
          ...fresh,
          previous: 'none',
          until: '',
          lostUntil: 0,
          isPaused: false,
          kept: [],
        };
        return put(tx, principal, 'statement.start', { ...row, settleHours, to: to ?? null });
      });
      return logView(log);
    },

    /** Lists heads by campaign and number, and the state of the logs. */
    async list(
      { tenantId }: TenantPrincipal,
      { campaign, cursor = '', limit }: StatementQuery,
    ): Promise<StatementList> {
      const wanted = campaign && idOf(tenantId, campaign).id;
      const all = await read.select('statementLogs', 'tenantId', [tenantId]);
      const chosen = all.filter(({ id }) => wanted === undefined || id === wanted);
      const logs = await Promise.all(chosen.map(logView));
      const items: StatementView[] = [];
      for (const { id } of chosen) {
        if (id < cursor.slice(0, id.length)) continue;
        for (const row of await read.select('statements', 'owner', [id])) {
          if (items.length === limit) return { items, nextCursor: items.at(-1)?.id ?? null, logs };
          if (row.id > cursor) items.push(statementView(row));
        }
      }
      return { items, nextCursor: null, logs };
    },

    /** Returns the rows of a statement. */
    async rows({ tenantId }: TenantPrincipal, id: string): Promise<AsyncIterable<Uint8Array>> {
      const head = id.startsWith(`${tenantId}.`) ? await read.get('statements', id) : undefined;
      const log = head && (await read.get('statementLogs', head.owner));
      if (!log) throw notFound('There is no statement with this id.');
      if (!log.kept.some(([one]) => one === id))
        throw notFound('The rows of this statement are past the retention of events.');
      const parts = await read.select('statements', 'owner', [partsOf(id)]);
      return (async function* () {
        for (const { text } of parts) yield inflateRawSync(Buffer.from(text, 'base64'));
      })();
    },

    /** Continues a log after a restore, or starts another one. */
    async resume(
      principal: TenantPrincipal,
      { campaign, last, newLog }: StatementResume,
    ): Promise<StatementLogView> {
      const { id, tenantId } = idOf(principal.tenantId, campaign);
      const known = await read.get('statementLogs', id);
      if (!known) throw notFound('This campaign has no statements.');
      if ((last === undefined) === (newLog === undefined))
        throw wrong('last', 'must be given, or newLog');
      const name = newLog ?? known.name;
      const { verifierKey } = await signerOf(options, { tenantId, name });
      const log = await write(principal, async (tx) => {
        const row = (await tx.get('statementLogs', id)) ?? known;
        const lostUntil = row.isPaused ? tx.now : row.lostUntil;
        const going = { ...row, name, isPaused: false, lostUntil };
        if (last === undefined) {
          if (row.keys.includes(verifierKey)) throw wrong('newLog', 'was used before');
          const keys = [...row.keys, verifierKey];
          return put(tx, principal, 'statement.resume', {
            ...going,
            keys,
            number: 0,
            previous: 'none',
          });
        }
        const key = readVerifierKey(row.keys.at(-1) ?? '');
        const text = key && openNote(Buffer.from(last), key);
        if (!text) throw wrong('last', 'is not a head that the key of this log has signed');
        const { campaign: signed, kind, day, number: digits, previous } = readHead(text);
        const [number, hash] = [Number(digits), headHash(text)];
        const isNext =
          number > row.number && (number > row.number + 1 || previous === row.previous);
        const continues = isNext || (number === row.number && hash === row.previous);
        if (!continues || signed !== row.campaignId || kind !== 'day')
          throw wrong(
            'last',
            `does not continue the chain up to number ${row.number}: give the newest one`,
          );
        const next = { ...going, number, previous: hash };
        if (isNext) {
          // What has come until now may be in the heads that the restore has lost.
          next.until = eventId({ receivedAtMs: tx.now, batch: 0, index: 0 });
          next.nextDay = dayAfter(day);
          await tx.put('statements', { id: headId(next, number), owner: id, text: last });
        }
        return put(tx, principal, 'statement.resume', next);
      });
      return logView(log);
    },

    /** Returns the keys that verify the statements of a tenant, for everybody. */
    async keys(id: string): Promise<string> {
      const logs = await read.select('statementLogs', 'tenantId', [asGuid(id) ?? '']);
      if (logs.length === 0) throw notFound('There are no statements of a tenant with this id.');
      return [...new Set(logs.flatMap(({ keys }) => keys))].map((key) => `${key}\n`).join('');
    },
  };
}
