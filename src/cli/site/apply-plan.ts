import { hasCode, SignageError } from '../../domain/error.ts';
import type { ApiClient } from '../api/client.ts';
import type { CommandContext } from '../command/context.ts';
import { exitCodeOf } from '../command/exit-code.ts';
import { makeProgress } from '../terminal/progress.ts';
import { concurrently, requestsAtOnce } from './concurrently.ts';
import { type CurrentRecord, currentScreen, currentVenue, readDetails } from './current-record.ts';
import { differences, differingAttributes } from './differences.ts';
import type { Planned } from './plan-site.ts';
import { writeAttributes } from './write-attributes.ts';

/** The result for one record. */
export interface Applied {
  kind: Planned['kind'];
  name: string;
  id: string | null;
  /** Under `--dry-run`, the planned change: `create`, `update`, `delete`. */
  result: 'created' | 'updated' | 'deleted' | 'unchanged' | 'failed' | Planned['change'];
  /** The changed members, or those to change. */
  changed: string[];
  error: string | null;
}

/** Result of one record. Filled in step by step, because applying may fail halfway. */
interface Outcome {
  id: string | null;
  result: Applied['result'];
  changed: string[];
}

/** Exit codes of errors after which no other record can succeed. */
const fatalExitCodes = [1, 4, 7];
const isFatal = (error: unknown) =>
  !(error instanceof SignageError) ||
  error.code === 'interrupted' ||
  fatalExitCodes.includes(exitCodeOf(error));

/** Creates a record. If somebody else has just created the same name, returns that record. */
async function findOrCreate(
  service: ApiClient,
  { kind, wanted, current }: Planned,
  venueId: string | undefined,
): Promise<{ current: CurrentRecord; isNew: boolean }> {
  if (current) return { current, isNew: false };
  const { name = '', address, timezone, labels = {} } = wanted;
  try {
    if (kind === 'venue') {
      const body = {
        name,
        ...(address != null && { address }),
        ...(timezone != null && { timezone }),
        labels,
      };
      const made = await service.change('createVenue', { body });
      if (made) return { current: currentVenue(made.answer), isNew: true };
    } else {
      const made = await service.change('createScreen', {
        body: { venueId: venueId ?? '', name, labels },
      });
      if (made) return { current: currentScreen(made.answer), isNew: true };
    }
  } catch (error) {
    if (!hasCode(error, 'name_taken') || error.existingId === undefined) throw error;
    const params = { id: error.existingId };
    const found =
      kind === 'venue'
        ? currentVenue(await service.read('getVenue', { params }))
        : currentScreen(await service.read('getScreen', { params }));
    return { current: await readDetails(service, kind, found, wanted), isNew: false };
  }
  // Unreachable: `change` returns nothing only under --dry-run, which does not apply plans.
  throw new SignageError('unexpected_answer', 'Nothing was created.');
}

/** Creates or updates one record. */
async function updateRecord(
  service: ApiClient,
  plan: Planned,
  venueId: string | undefined,
  outcome: Outcome,
): Promise<void> {
  const { current, isNew } = await findOrCreate(service, plan, venueId);
  outcome.id = current.id;
  if (!plan.current && !isNew)
    outcome.changed = differences(current.attributes, plan.wanted).map(({ member }) => member);
  const names = differingAttributes(current.attributes, plan.wanted);
  await writeAttributes(service, plan.kind, current, plan.wanted, names);
  outcome.result = isNew ? 'created' : names.length > 0 ? 'updated' : 'unchanged';
}

/** Returns why a record must not be deleted, or `null`. */
export function deletionRefusal({ change, current }: Planned, force: boolean): string | null {
  return change === 'delete' && current?.isActive && !force
    ? 'The screen is active. Revoke its device first, or use --force.'
    : null;
}

async function deleteRecord(
  service: ApiClient,
  plan: Planned,
  force: boolean,
  outcome: Outcome,
): Promise<void> {
  const { kind, current } = plan;
  const id = current?.id ?? '';
  const reason = deletionRefusal(plan, force);
  if (reason !== null) throw new SignageError('screen_active', reason);
  try {
    if (kind === 'venue') await service.change('deleteVenue', { params: { id } });
    else
      await service.change('deleteScreen', {
        params: { id },
        ...(force && { query: { force: 'true' } }),
      });
  } catch (error) {
    // Somebody else has already deleted it.
    if (!hasCode(error, 'screen_not_found') && !hasCode(error, 'venue_not_found')) throw error;
  }
  outcome.result = 'deleted';
}

/** Order of the changes: parents are created before and deleted after their children. */
const steps: readonly ((plan: Planned) => boolean)[] = [
  ({ kind, change }) => kind !== 'screen' && change !== 'delete',
  ({ kind, change }) => kind === 'screen' && change !== 'delete',
  ({ kind, change }) => kind === 'screen' && change === 'delete',
  ({ kind, change }) => kind === 'venue' && change === 'delete',
];

/**
 * Applies a plan, many records at once. One failed record does not stop the others. A fatal error,
 * such as no connection, missing rights or a signal, stops all and is returned as `stopped`.
 * Results are in the order of the plan; after a fatal error some are missing.
 */
export async function applyPlan(
  call: CommandContext,
  plans: readonly Planned[],
  { force }: { force: boolean },
): Promise<{ results: Applied[]; stopped: unknown }> {
  const progress = makeProgress(call);
  const done = new Map<Planned, Applied>();
  let stopped: unknown;

  async function apply(plan: Planned): Promise<void> {
    const { kind, name } = plan;
    const outcome: Outcome = {
      id: plan.current?.id ?? null,
      result: 'failed',
      changed: plan.differences.map(({ member }) => member),
    };
    let error: string | null = null;
    try {
      const venueId = plan.venue && done.get(plan.venue)?.id;
      if (plan.change === 'unchanged') outcome.result = 'unchanged';
      else if (plan.change === 'delete') await deleteRecord(call, plan, force, outcome);
      else if (venueId === null) error = 'Its venue could not be created.';
      else await updateRecord(call, plan, venueId, outcome);
    } catch (failure) {
      if (isFatal(failure)) throw failure;
      error = (failure as SignageError).message;
    }
    done.set(plan, { kind, name, ...outcome, error });
    progress.show(`Applying: ${done.size} of ${plans.length}`);
  }

  try {
    for (const belongs of steps) await concurrently(plans.filter(belongs), requestsAtOnce, apply);
  } catch (error) {
    stopped = error;
  } finally {
    progress.end();
  }
  return { results: plans.flatMap((plan) => done.get(plan) ?? []), stopped };
}
