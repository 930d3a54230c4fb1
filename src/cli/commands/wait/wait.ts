import type { Screen } from '../../../client/entities.ts';
import type { JudgedRecord } from '../../glass/fleet-status.ts';
import { type Setting, usage } from '../../input/settings.ts';
import type { CommandContext } from '../../program/context.ts';
import { defineCommand, some } from '../../program/spec.ts';
import { mapBounded } from '../../records/for-each-record.ts';
import {
  hasFilter,
  isSingle,
  noneMatches,
  selectionOptions,
  selectScreens,
} from '../../records/select-screens.ts';
import { screensOfVenueView, screensView } from '../../records/views/place-views.ts';
import { shellQuote } from '../../terminal/text.ts';

import { device } from './wait-device.ts';
import { type Goal, type SeenRecord, timeout, waitForAll } from './wait-for-all.ts';

function describeScreen({ state, provisioningCode }: Screen): string {
  if (state === 'active') return 'it is active';
  return `it is provisioning, ${provisioningCode ? `its newest pairing code ${provisioningCode.status}` : 'without a pairing code'}`;
}

/** Names are looked up once. A selection may change, so it is made at each look. */
async function screensInState(
  call: CommandContext,
  names: readonly string[],
  state: Screen['state'],
): Promise<Goal<Screen>['look']> {
  const named = hasFilter(call) ? undefined : (await selectScreens(call, names)).screens;
  const seen = (name: string, screen: Screen): SeenRecord<Screen> => ({
    name,
    found: screen.state === state ? screen : undefined,
    saw: describeScreen(screen),
  });
  if (named)
    return () =>
      mapBounded(named, async ({ id, name }) =>
        seen(name, await call.read('getScreen', { params: { id } })),
      );
  return async () => {
    const { screens } = await selectScreens(call, names);
    return screens.map(({ name, screen }) => seen(name, screen));
  };
}

function describeCondition({ condition, reason }: JudgedRecord): string {
  return `it is ${condition}${reason ? ` (${reason.text.replace(/\.$/, '')})` : ''}`;
}

/** Names are looked up once. A selection is made at each look. */
async function playingScreens(
  call: CommandContext,
  names: readonly string[],
): Promise<Goal<JudgedRecord>['look']> {
  const { judgedScreen, readFleetStatus, readScreenStatus } = await import(
    '../../glass/fleet-status.ts'
  );
  const seen = (name: string, screen: JudgedRecord): SeenRecord<JudgedRecord> => ({
    name,
    found: screen.condition === 'playing' ? screen : undefined,
    saw: describeCondition(screen),
  });
  const { screens } = await selectScreens(call, names);
  if (!hasFilter(call))
    return () =>
      mapBounded(screens, async ({ id, name }) =>
        seen(name, judgedScreen(await readScreenStatus(call, id))),
      );
  return async () => {
    const all = await readFleetStatus(call, call.options);
    if (all.length === 0 && !call.options.allowNone) throw noneMatches(call);
    return all.map(({ name, ...status }) => seen(name, judgedScreen(status)));
  };
}

const screenStates = ['active', 'provisioning', 'playing'] as const;

/** A state of screens, or a playlist version that TVs should get. */
type ScreenGoal = (typeof screenStates)[number] | { version: number | 'latest' };

const screenGoal: Setting<ScreenGoal> = {
  flags: '--for <state>',
  help: 'what to wait for: active, provisioning, playing, playlist:<version> or playlist:latest',
  read(text, source) {
    const state = screenStates.find((one) => one === text);
    if (state !== undefined) return state;
    const [, version] = /^playlist:([1-9]\d{0,14}|latest)$/.exec(text) ?? [];
    if (version === 'latest') return { version };
    if (version !== undefined) return { version: Number(version) };
    throw usage(
      `${source} must be active, provisioning, playing, or a version such as playlist:8, not "${text}".`,
    );
  },
  initial: 'active',
  shown: 'active',
  choices: screenStates,
};

const screen = defineCommand({
  summary: 'Wait until a screen plays, has a TV or a playlist version, or no longer has a TV',
  description: `Returns at once if the screen is in this state. With several screens, --selector or
--venue, it waits until all the screens are in this state. Exit code 8: the timeout passed.

--for playing waits until signage status says playing: not while an item fails, nor before the TV
has reported a play. A screen that plays the version before is playing: wait for playlist:latest first.

--for playlist:8 waits until each TV has been given version 8 or a newer one. playlist:latest means
the version that each screen has when the command starts. Exit code 8: no TV got it in time; 9: only
some did. Screens without a TV are listed but not waited for, unless no screen has a TV.`,
  arguments: { screen: some('its id or name', 'screen') },
  options: {
    ...selectionOptions,
    for: screenGoal,
    timeout,
  },
  examples: [
    ['signage wait screen Lobby/Main', 'waits until a TV has registered'],
    [
      'signage wait screen Lobby/Main --for playlist:8',
      'waits until its TV has been given version 8 of the playlist',
    ],
    [
      'signage wait screen Lobby/Main --for provisioning --timeout 5m',
      'waits until its device is revoked',
    ],
    ['signage wait screen --venue Lobby --for playing', 'waits until all screens of a venue play'],
  ],
  async run(call) {
    const state = call.options.for;
    const names = call.args.screen;
    if (typeof state === 'object') {
      const { waitForVersion } = await import('../../glass/delivery.ts');
      return waitForVersion(call, names, state.version);
    }
    const [name = ''] = names;
    const isOne = isSingle(call, names);
    if (state === 'playing') {
      const screens = await waitForAll(call, names, {
        what: isOne ? `the screen "${name}" to play` : 'all selected screens to play',
        hint: isOne ? `To find out why: signage doctor ${shellQuote(name)}` : 'signage status',
        everyMsForMany: 5000,
        look: await playingScreens(call, names),
      });
      const { judgedScreenView } = await import('../../glass/fleet-status.ts');
      const [screen] = screens;
      if (isOne && screen) return call.results.record(screen, judgedScreenView);
      await call.results.list([screens], judgedScreenView);
      return;
    }
    const command = state === 'active' ? 'pair' : 'device revoke';
    const other = state === 'active' ? 'provisioning' : 'active';
    const screens = await waitForAll(call, names, {
      what: `${isOne ? `the screen "${name}"` : 'all selected screens'} to be ${state}`,
      hint: isOne
        ? `To ${state === 'active' ? 'pair a TV' : 'free it'}: signage ${command} ${shellQuote(name)}`
        : `signage screen list --state ${other}`,
      look: await screensInState(call, names, state),
    });
    const [screen] = screens;
    if (isOne && screen)
      return call.results.record(screen, screensOfVenueView(call, screen.venueId));
    await call.results.list([screens], screensView(call));
  },
});

export const wait = { screen, device };
