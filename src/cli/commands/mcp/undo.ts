import { shellQuote } from '../../terminal/text.ts';
import type { ChangePlan, Replaced } from './plan-change.ts';

/** A call, or a command line where no tool may do it, that brings back what was there before. */
export type Undo = { tool: string; arguments: Record<string, unknown> } | { command: string };

const iso = (seconds: number) => new Date(seconds * 1000).toISOString();

function undoOfOne({ kind, id, value }: Replaced): Undo[] {
  if (kind === 'playlist') {
    const version = value?.version ?? 'none';
    return [{ tool: 'rollback', arguments: { screen: id, version } }];
  }
  if (kind === 'takeover') {
    if (value === null) return [{ tool: 'clear_takeover', arguments: { screen: id } }];
    const playlist = { items: value.items };
    return [{ tool: 'takeover', arguments: { screen: id, playlist, until: iso(value.until) } }];
  }
  if (kind !== 'schedule' && kind !== 'venue schedule') return [];
  const place = kind === 'schedule' ? { screen: id } : { venue: id };
  const schedule = value && { entries: value.entries };
  return [{ tool: 'set_schedule', arguments: { ...place, schedule } }];
}

/** Returns the calls that undo a change, at most one for each screen that was changed. */
export function undoOf(
  tool: string,
  args: Record<string, unknown>,
  { replaced }: ChangePlan,
  result: unknown,
): Undo[] {
  const rows = [result ?? []].flat() as { id?: string; result?: string }[];
  const failed = new Set(rows.filter((row) => row.result === 'failed').map(({ id }) => id));
  if (tool !== 'pair') return replaced.filter(({ id }) => !failed.has(id)).flatMap(undoOfOne);
  if (args.claim !== undefined)
    return [{ command: `signage device revoke ${shellQuote(String(args.screen))}` }];
  const { code } = (result ?? {}) as { code?: string };
  return code === undefined ? [] : [{ command: `signage code cancel ${code}` }];
}
