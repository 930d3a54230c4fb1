import type { CallInput } from '../../client/call.ts';
import type { Device } from '../../client/entities.ts';
import { secondMs } from '../../domain/clock.ts';
import { hasCode, SignageError } from '../../domain/error.ts';
import type { CommandContext } from '../program/context.ts';
import { type Selected, selectionFilters, selectScreens } from '../records/select-screens.ts';
import { screensOfVenueView, screensView } from '../records/views/place-views.ts';
import { poll } from '../records/wait.ts';
import { isForPeople } from '../terminal/format.ts';
import { progressBar, withProgress } from '../terminal/progress.ts';
import { countText, shellQuote } from '../terminal/text.ts';

/** A screen, and the playlist version that its TV should get. */
export interface DeliveryTarget {
  id: string;
  name: string;
  version: number;
}

/** Filters for the list of devices. They match the devices of all targets. */
type DeviceFilters = NonNullable<CallInput<'listDevices'>['query']>;

/**
 * - `current`: the TV was given the version, or a newer one.
 * - `online`, `offline`: the TV was not given it, and is online or offline.
 * - `none`: the screen has no TV.
 */
export type TvState = 'current' | 'online' | 'offline' | 'none';

interface DeliveryOptions {
  targets: readonly DeliveryTarget[];
  filters: DeviceFilters;
  /** The awaited version, as the end of a sentence: `version 8`. */
  what: string;
}

const maxShownNames = 10;
/**
 * Up to this number of screens, a request for each screen is cheaper than reading the whole list.
 */
const fewScreens = 5;
/** Maximum number of devices that a wait reads per second, in pages of 200. */
const devicesPerSecond = 2000;
/** Minimum time between two progress lines without a terminal. */
const lineEveryMs = 10 * secondMs;

function stateOf(device: Device | undefined, version: number): TvState {
  if (!device) return 'none';
  if ((device.lastPlaylistVersion ?? 0) >= version) return 'current';
  return device.online ? 'online' : 'offline';
}

/** Formats the names of up to ten screens: `"Lobby/A", "Lobby/B" and 3 more`. */
function namesText(screens: readonly Pick<DeliveryTarget, 'name'>[]): string {
  const names = screens.slice(0, maxShownNames).map(({ name }) => `"${name}"`);
  const hidden = screens.length - names.length;
  return `${names.join(', ')}${hidden > 0 ? ` and ${hidden.toLocaleString('en')} more` : ''}`;
}

/**
 * Waits until TVs have been given a playlist version. Ignores screens without a TV, unless no
 * screen has a TV.
 */
export class DeliveryWait {
  readonly #call: CommandContext;
  readonly #options: DeliveryOptions;
  readonly #states = new Map<string, TvState>();
  #line = { text: '', atMs: Number.NEGATIVE_INFINITY };

  constructor(call: CommandContext, options: DeliveryOptions) {
    this.#call = call;
    this.#options = options;
  }

  /** Returns the last known state of a screen's TV. */
  stateOf(screenId: string): TvState | undefined {
    return this.#states.get(screenId);
  }

  /**
   * Waits until all TVs have the version. Throws `wait_timed_out` (exit code 8) if none has it in
   * time, `partly_failed` (9) if only some have it, and `interrupted` on a signal.
   */
  async wait(timeoutMs: number): Promise<void> {
    const { targets, what } = this.#options;
    if (targets.length === 0) return;
    const everyMs = Math.max(1, targets.length / devicesPerSecond) * secondMs;
    try {
      const isComplete = await withProgress(this.#call, (show) =>
        poll(this.#call, { timeoutMs, what, everyMs }, async () => {
          await this.#look();
          const { given, total } = this.#count();
          show(`${progressBar(given, total)} have it`);
          this.#writeLine();
          return given === total || undefined;
        }),
      );
      if (!isComplete) throw this.#timedOut(timeoutMs);
      if (targets.length > 1) this.#call.note(this.summary());
    } catch (error) {
      if (hasCode(error, 'interrupted')) this.#call.note(`Interrupted: ${this.summary()}`);
      throw error;
    }
  }

  /** Counts the TVs that have the version, and names the screens whose TVs do not. */
  summary(): string {
    const { given, total } = this.#count();
    const have = `${given.toLocaleString('en')} of ${countText(total, 'TV')} ${total === 1 ? 'has' : 'have'} ${this.#options.what}.`;
    const groups = [
      ['offline', 'offline'],
      ['online', 'online, but not fetched yet'],
      ['none', 'without a TV'],
    ] as const;
    const missing = groups.flatMap(([state, label]) => {
      const targets = this.#options.targets.filter(({ id }) => this.stateOf(id) === state);
      if (targets.length === 0) return [];
      return [`${targets.length.toLocaleString('en')} ${label}: ${namesText(targets)}`];
    });
    return missing.length === 0 ? have : `${have} Missing: ${missing.join('; ')}.`;
  }

  #count(): { given: number; total: number } {
    const states = this.#options.targets.map(({ id }) => this.stateOf(id));
    const withTv = states.filter((state) => state !== 'none').length;
    const given = states.filter((state) => state === 'current').length;
    return { given, total: withTv || states.length };
  }

  #timedOut(timeoutMs: number): SignageError {
    const isPartly = this.#count().given > 0;
    const inState = (state: TvState) =>
      this.#options.targets.find(({ id }) => this.stateOf(id) === state);
    const missing = inState('offline') ?? inState('online') ?? inState('none');
    const seconds = Math.round(timeoutMs / secondMs);
    return new SignageError(
      isPartly ? 'partly_failed' : 'wait_timed_out',
      `Timed out after ${seconds} s: ${this.summary()}`,
      {
        hint: `The same command waits again. To find out why: signage doctor ${shellQuote(missing?.name ?? '')}`,
      },
    );
  }

  /** Writes a line of progress, if there is no terminal for a progress bar. */
  #writeLine(): void {
    const { io, common, clock } = this.#call;
    if (io.stderr.isTTY || !isForPeople(common.output)) return;
    const { given, total } = this.#count();
    const text = `${given.toLocaleString('en')} of ${total.toLocaleString('en')} have it.`;
    const nowMs = clock.now();
    const isTooSoon = nowMs - this.#line.atMs < lineEveryMs;
    if (given === total || text === this.#line.text || isTooSoon) return;
    this.#line = { text, atMs: nowMs };
    this.#call.note(text);
  }

  async #look(): Promise<void> {
    const missing = this.#options.targets.filter(({ id }) => this.stateOf(id) !== 'current');
    const devices = await this.#readDevices(missing);
    for (const { id, version } of missing) this.#states.set(id, stateOf(devices.get(id), version));
  }

  /** Returns the bound devices of screens, by the id of the screen. */
  async #readDevices(screens: readonly DeliveryTarget[]): Promise<Map<string, Device>> {
    const queries: DeviceFilters[] =
      screens.length <= fewScreens
        ? screens.map(({ id }) => ({ screenId: id }))
        : [this.#options.filters];
    const devices = new Map<string, Device>();
    for (const query of queries)
      for await (const page of this.#call.pages('listDevices', {
        query: { ...query, state: 'bound' },
      }))
        for (const device of page) devices.set(device.screenId, device);
    return devices;
  }
}

/**
 * Returns the screens with their active versions. Prints a note about screens that have none.
 * Throws `playlist_not_found` if no screen has one.
 */
async function latestVersions(
  call: CommandContext,
  screens: readonly Selected[],
): Promise<DeliveryTarget[]> {
  const query = selectionFilters(call, screens);
  const statuses = screens.length === 0 ? [] : await call.all('listScreenStatus', { query });
  const versions = new Map(
    statuses.flatMap(({ screen, playlist }) =>
      playlist?.status === 'active' ? [[screen.id, playlist.version]] : [],
    ),
  );
  const targets = screens.flatMap(({ id, name }) => {
    const version = versions.get(id);
    return version === undefined ? [] : [{ id, name, version }];
  });
  const without = screens.filter(({ id }) => !versions.has(id));
  if (without.length === 0) return targets;
  const text = `${countText(without.length, 'screen')} without a playlist: ${namesText(without)}.`;
  if (targets.length === 0) throw new SignageError('playlist_not_found', text);
  call.note(text);
  return targets;
}

/** Waits until the TVs of the screens have been given a playlist version. Prints the screens. */
export async function waitForVersion(
  call: CommandContext,
  names: readonly string[],
  version: number | 'latest',
): Promise<void> {
  const { screens } = await selectScreens(call, names);
  const targets =
    version === 'latest'
      ? await latestVersions(call, screens)
      : screens.map(({ id, name }) => ({ id, name, version }));
  const filters = selectionFilters(call, screens);
  const what = version === 'latest' ? 'the latest version' : `version ${version}`;
  await new DeliveryWait(call, { targets, filters, what }).wait(call.options.timeout);
  const { screens: present, single } = await selectScreens(call, names);
  if (single)
    return call.results.record(single.screen, screensOfVenueView(call, single.screen.venueId));
  await call.results.list([present.map(({ screen }) => screen)], screensView(call));
}
