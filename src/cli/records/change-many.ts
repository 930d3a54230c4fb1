import { hash } from 'node:crypto';
import type { CallInput } from '../../client/call.ts';
import { SignageError } from '../../domain/error.ts';
import type { BulkResult } from '../../domain/playlists/bulk-publication.ts';
import type { CommandContext } from '../program/context.ts';
import { progressBar } from '../terminal/progress.ts';
import type { ItemResult } from './for-each-record.ts';

/** Maximum number of screens of one publication (docs/protocol.md §5.4). */
const screensAtOnce = 1000;

type Body = CallInput<'publishMany'>['body'];
/** A change of the playlists of screens. */
export type PlaylistChange = Pick<Body, 'action' | 'items' | 'until' | 'validUntil' | 'to'>;

/** A screen to change. */
export interface ChangedScreen {
  id: string;
  name: string;
  /** The version that it must have; `null`: no playlist. `undefined`: any. */
  version?: number | null | undefined;
}

/** `playing` is `false` if a schedule or takeover is above the playlist, and else absent. */
export type ChangeResult = ItemResult & { version?: number; playing?: false };

interface ChangeOptions {
  show?: (text: string) => void;
  /**
   * Makes repeats of this command send the same `Idempotency-Key` for the same screens and content.
   * Default: a random key for each call.
   */
  seed?: string | undefined;
}

/** Words for changed and unchanged screens. */
const words: Record<Body['action'], readonly [changed: string, unchanged: string]> = {
  publish: ['published', 'unchanged'],
  withdraw: ['withdrawn', 'no playlist'],
  rollback: ['rolled back', 'unchanged'],
  takeover: ['taken over', 'unchanged'],
};

type ScreenErrorCode = Extract<BulkResult, { code: string }>['code'];
const errors: Record<ScreenErrorCode, string> = {
  screen_not_found: 'There is no screen with this id.',
  playlist_not_found: 'There is no earlier version.',
  precondition_failed:
    'Its playlist or takeover was changed after this command began, so the screen was not changed.',
  invalid_request: 'The earlier version has expired.',
  not_repeatable: 'It already has the content of an earlier version, as after a rollback.',
};
const hints: { [C in ScreenErrorCode]?: string } = {
  playlist_not_found: 'signage playlist history lists all versions.',
  invalid_request: 'Give it a new end: --valid-until 7d, or --valid-until none.',
  not_repeatable: 'To go back further, give the number of a version.',
};

/** Makes the error for a screen that was not changed. */
export function changeError(code: ScreenErrorCode): SignageError {
  const hint = hints[code];
  return new SignageError(code, errors[code], hint === undefined ? {} : { hint });
}

/** What was done on a screen. */
export interface ScreenOutcome<T> {
  screen: T;
  outcome: BulkResult;
}

/** Returns the result to print. `changed`: the word for a changed screen. */
export function changeResult<T extends ChangedScreen>(
  { screen: { id, name }, outcome }: ScreenOutcome<T>,
  action: Body['action'],
  changed: string = words[action][0],
): ChangeResult {
  if ('code' in outcome) {
    const { message, hint } = changeError(outcome.code);
    return { name, id, result: 'failed', error: hint ? `${message} ${hint}` : message };
  }
  const version = outcome.version === null ? {} : { version: outcome.version };
  const result = outcome.changed ? changed : words[action][1];
  const isBelow = action === 'publish' && !outcome.playing;
  return { name, id, result, ...version, ...(isBelow && { playing: false }), error: null };
}

/**
 * Changes the playlists of screens, 1,000 a call. Yields the outcomes of each call, in the order of
 * the screens. Yields nothing under `--dry-run`.
 */
export async function* changeMany<T extends ChangedScreen>(
  call: CommandContext,
  screens: readonly T[],
  change: PlaylistChange,
  { show = () => {}, seed }: ChangeOptions = {},
): AsyncGenerator<ScreenOutcome<T>[]> {
  for (let from = 0; from < screens.length; from += screensAtOnce) {
    const chunk = screens.slice(from, from + screensAtOnce);
    show(progressBar(from, screens.length));
    const versions = chunk.flatMap(({ id, version }) =>
      version === undefined ? [] : [[id, version]],
    );
    const body: Body = {
      screenIds: chunk.map(({ id }) => id),
      ...change,
      ...(versions.length > 0 && { ifVersions: Object.fromEntries(versions) }),
    };
    const key = seed && { idempotencyKey: hash('sha256', `${seed} ${JSON.stringify(body)}`) };
    const made = await call.change('publishMany', { body, ...key });
    if (!made) continue;
    const found = new Map(made.answer.results.map((outcome) => [outcome.screenId, outcome]));
    yield chunk.flatMap((screen) => {
      const outcome = found.get(screen.id);
      return outcome ? [{ screen, outcome }] : [];
    });
  }
  show(progressBar(screens.length, screens.length));
}

/** Changes the playlists of selected screens. Yields the results to print. */
export async function* changedScreens(
  call: CommandContext,
  screens: readonly ChangedScreen[],
  change: PlaylistChange,
  show: (text: string) => void,
): AsyncGenerator<ChangeResult> {
  const any = screens.map(({ id, name }) => ({ id, name }));
  for await (const page of changeMany(call, any, change, { show }))
    for (const one of page) yield changeResult(one, change.action);
}
