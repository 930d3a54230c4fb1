import { isDeepStrictEqual } from 'node:util';
import type { CallArguments } from '../../../client/call.ts';
import { interrupted } from '../../../client/pause.ts';
import { secondMs } from '../../../domain/clock.ts';
import { abortedLater, forEachBounded } from '../../../domain/concurrency.ts';
import { hasCode, type SignageError } from '../../../domain/error.ts';
import { preconditionOf, untilStored } from '../../connection/conditional.ts';
import type { CommandContext } from '../../program/context.ts';
import { isFatal } from '../../program/exit-code.ts';
import { withProgress } from '../../terminal/progress.ts';
import { differences, differingAttributes, type Planned } from './plan-site.ts';
import { publishPlaylists, type UnpublishedScreen } from './publish-site.ts';
import {
  type CurrentRecord,
  createRecord,
  readDetails,
  readRecord,
  requestsAtOnce,
  writeAttributes,
} from './site-records.ts';
import type { Attributes } from './site-schema.ts';

/** The result for one record. */
export interface Applied {
  kind: Planned['kind'];
  name: string;
  id: string | null;
  /** Under `--dry-run`, the planned change: `create`, `update`, `delete`. */
  result: 'created' | 'updated' | 'deleted' | 'unchanged' | 'failed' | Planned['change'];
  /** The changed members. Under `--dry-run`, the members that would change. */
  changed: string[];
  error: string | null;
}

/** Returns the reason why the plan may not delete its record, or `null`. */
export function deletionRefusal({ change, current }: Planned, force: boolean): string | null {
  return change === 'delete' && current?.isActive && !force
    ? 'The screen is active. Revoke its device first, or use --force.'
    : null;
}

/** Returns the result row of a record before anything is changed. */
export function plannedResult(plan: Planned, force: boolean): Applied {
  const { kind, name, current, change } = plan;
  const changed = plan.differences.map(({ member }) => member);
  const error = deletionRefusal(plan, force);
  return { kind, name, id: current?.id ?? null, result: change, changed, error };
}

/**
 * Whether two records differ in attributes that share the ETag of the record: all but config and
 * schedule.
 */
const recordDiffers = (current: Attributes, wanted: Attributes) =>
  differingAttributes(current, wanted).some((name) => name !== 'config' && name !== 'schedule');

/**
 * Changes an existing record, all but its playlist, until it matches the files. If another caller
 * changes it meanwhile, reads it again and starts over, so that the files never overwrite an unseen
 * change. Returns the changed members.
 */
async function matchFiles(
  call: CommandContext,
  kind: Planned['kind'],
  known: CurrentRecord,
  wanted: Attributes,
): Promise<string[]> {
  const changed = new Set<string>();
  let current = known;
  // Lists have no ETags.
  if (!('record' in current.etags) && recordDiffers(current.attributes, wanted)) {
    const fresh = await readRecord(call, kind, known.id);
    current = {
      ...fresh,
      attributes: { ...known.attributes, ...fresh.attributes },
      etags: { ...known.etags, ...fresh.etags },
    };
  }
  return untilStored(current, {
    read: async () => readDetails(call, kind, await readRecord(call, kind, known.id), wanted),
    async write(stored) {
      for (const { member } of differences(stored.attributes, wanted)) changed.add(member);
      const names = differingAttributes(stored.attributes, wanted);
      await writeAttributes(call, kind, stored, wanted, names);
      return [...changed];
    },
  });
}

/**
 * Creates or updates one record. Fills in its result step by step, because it may fail halfway.
 * Returns the screen if its playlist is still to be changed. Then calls `onDone` with its result.
 */
async function updateRecord(
  call: CommandContext,
  { kind, name, current: known, wanted }: Planned,
  venueId: string,
  applied: Applied,
  onDone: () => void,
): Promise<UnpublishedScreen | undefined> {
  const made = known ? undefined : await createRecord(call, kind, venueId, wanted);
  const isNew = made?.isNew === true;
  const current = known ?? made?.current;
  // A record is missing here only under --dry-run, which applies no plan.
  if (!current) return undefined;
  const { id } = current;
  applied.id = id;
  if (isNew) applied.result = 'created';
  if (made && !isNew)
    applied.changed = differences(current.attributes, wanted).map(({ member }) => member);
  const { playlist, ...others } = wanted;
  const changed = await matchFiles(call, kind, current, others);
  const ofPlaylist = playlist === undefined ? [] : differences(current.attributes, { playlist });
  if (!isNew) {
    applied.changed = [...changed, ...ofPlaylist.map(({ member }) => member)];
    applied.result = applied.changed.length > 0 ? 'updated' : 'unchanged';
  }
  if (ofPlaylist.length === 0) return undefined;
  const settle = (error?: SignageError) => {
    if (error) {
      applied.result = 'failed';
      applied.error = call.shownError(error).message;
    }
    onDone();
  };
  return { id, name, version: current.playlistVersion, playlist, settle };
}

/** Deletes a record, unless another caller has changed it since it was planned. */
async function deleteRecord(
  call: CommandContext,
  { kind, current }: Planned,
  force: boolean,
  applied: Applied,
): Promise<void> {
  const id = current?.id ?? '';
  const params = { id };
  try {
    const { attributes, etags } = await readRecord(call, kind, id);
    if (!isDeepStrictEqual(attributes, current?.attributes)) {
      applied.result = 'failed';
      applied.error = 'It was changed meanwhile, so it was not deleted. Run the command again.';
      return;
    }
    const headers = preconditionOf(etags.record);
    const query = force ? { query: { force: 'true' as const } } : {};
    if (kind === 'venue') await call.change('deleteVenue', { params, headers });
    else await call.change('deleteScreen', { params, headers, ...query });
  } catch (error) {
    // Another client has already deleted the record.
    if (!hasCode(error, 'screen_not_found') && !hasCode(error, 'venue_not_found')) throw error;
  }
  applied.result = 'deleted';
}

/** Venues are created before their screens. */
const updates: readonly ((plan: Planned) => boolean)[] = [
  ({ kind, change }) => kind !== 'screen' && change !== 'delete',
  ({ kind, change }) => kind === 'screen' && change !== 'delete',
];

/** Venues are deleted after their screens. */
const deletions: readonly ((plan: Planned) => boolean)[] = [
  ({ kind, change }) => kind === 'screen' && change === 'delete',
  ({ kind, change }) => kind === 'venue' && change === 'delete',
];

/** Time for the running requests after a signal. */
const graceMs = 5 * secondMs;

/** After a signal, starts no further change, but lets the running requests end. */
function finishingRequests(call: CommandContext): CommandContext {
  const { interrupted: stop, clock } = call;
  const signal = abortedLater(clock, stop, graceMs);
  const change: CommandContext['change'] = async (id, ...[input]) => {
    if (stop.aborted) throw interrupted(stop);
    return call.change(id, ...([{ signal, ...input }] as unknown as CallArguments<typeof id>));
  };
  return { ...call, change };
}

/** Returns the result of a record that was changed, but not completely. */
function unfinished(applied: Applied | undefined): Applied | undefined {
  if (applied?.result !== 'created' && applied?.result !== 'updated') return undefined;
  const changed = applied.changed.filter((name) => !name.startsWith('playlist'));
  if (applied.result === 'updated' && changed.length === 0) return undefined;
  return { ...applied, changed, error: 'Stopped before all of it was applied.' };
}

/**
 * Applies a plan, several records at a time. One failed record does not stop the others. A fatal
 * error, such as no connection, missing rights or a signal, stops all. It is returned as `stopped`.
 * Results are in the order of the plan. After a fatal error, the results of records that were not
 * changed are missing. `partly`: number of records that were not changed completely. A signal lets
 * running requests end, so that the results tell all changes.
 */
export async function applyPlan(
  interruptible: CommandContext,
  plans: readonly Planned[],
  { force }: { force: boolean },
): Promise<{ results: Applied[]; partly: number; stopped: unknown }> {
  const done = new Map<Planned, Applied>();
  const unpublished: UnpublishedScreen[] = [];
  const begun = new Map<Planned, Applied>();
  const call = finishingRequests(interruptible);
  let stopped: unknown;

  async function apply(plan: Planned, show: (text: string) => void): Promise<void> {
    const applied = plannedResult(plan, force);
    begun.set(plan, applied);
    const onDone = () => {
      done.set(plan, applied);
      show(`Applying: ${done.size} of ${plans.length}`);
    };
    const venueId = plan.venue && done.get(plan.venue)?.id;
    if (plan.change === 'create' && venueId === null)
      applied.error = 'Its venue could not be created.';
    try {
      if (applied.error !== null) applied.result = 'failed';
      else if (plan.change === 'delete') await deleteRecord(call, plan, force, applied);
      else if (plan.change !== 'unchanged') {
        const screen = await updateRecord(call, plan, venueId ?? '', applied, onDone);
        if (screen) {
          unpublished.push(screen);
          return;
        }
      }
    } catch (error) {
      if (isFatal(error)) throw error;
      applied.result = 'failed';
      applied.error = call.shownError(error as SignageError).message;
    }
    onDone();
  }

  try {
    await withProgress(call, async (show) => {
      const run = (belongs: (plan: Planned) => boolean) =>
        forEachBounded(plans.filter(belongs), requestsAtOnce, (plan) => apply(plan, show));
      for (const belongs of updates) await run(belongs);
      await publishPlaylists(call, unpublished);
      for (const belongs of deletions) await run(belongs);
    });
  } catch (error) {
    stopped = error;
  }
  const resultOf = (plan: Planned) => done.get(plan) ?? unfinished(begun.get(plan)) ?? [];
  const results = plans.flatMap(resultOf);
  return { results, partly: results.length - done.size, stopped };
}
