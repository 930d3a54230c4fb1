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

/** What became of one record. */
export interface Applied {
  kind: Planned['kind'];
  name: string;
  id: string | null;
  /** Under `--dry-run`, what would be done: `create`, `update`, `delete`. */
  result: 'created' | 'updated' | 'deleted' | 'unchanged' | 'failed' | Planned['change'];
  /** The members that were changed, or were to be. */
  changed: string[];
  error: string | null;
}

/** What was done to a record, and which it is; filled in on the way, for it may fail halfway. */
interface Outcome {
  id: string | null;
  result: Applied['result'];
  changed: string[];
}

/** Nothing further can go well after these. */
const fatalExitCodes = [1, 4, 7];
const isFatal = (error: unknown) =>
  !(error instanceof SignageError) ||
  error.code === 'interrupted' ||
  fatalExitCodes.includes(exitCodeOf(error));

/** Makes a record; where somebody else has meanwhile, theirs is taken. */
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
  // Plans are not carried out under --dry-run, where alone there is no answer.
  throw new SignageError('unexpected_answer', 'Nothing was made.');
}

/** Brings one record to what is wanted of it. */
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

/** Why a record will not be deleted, if so. */
export function deletionRefusal({ change, current }: Planned, force: boolean): string | null {
  return change === 'delete' && current?.isActive && !force
    ? 'The screen is active: revoke its device first, or say --force.'
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
    // Somebody else was quicker.
    if (!hasCode(error, 'screen_not_found') && !hasCode(error, 'venue_not_found')) throw error;
  }
  outcome.result = 'deleted';
}

/** The steps, one after another: what a record needs is there before it. */
const steps: readonly ((plan: Planned) => boolean)[] = [
  ({ kind, change }) => kind !== 'screen' && change !== 'delete',
  ({ kind, change }) => kind === 'screen' && change !== 'delete',
  ({ kind, change }) => kind === 'screen' && change === 'delete',
  ({ kind, change }) => kind === 'venue' && change === 'delete',
];

/**
 * Carries out a plan, many records at once. A record that fails does not stop the others; what makes all further ones fatalExitCodes (no connection,
 * no right to do it, a signal) does, and is answered as `stopped`. The results are in the order of the plan, of as many records as there were.
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
      else if (venueId === null) error = 'Its venue could not be made.';
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
