import type { CommandContext } from '../command/context.ts';
import { usage } from '../options/settings.ts';
import { findVenue, type Screen, type Venue } from '../records/find.ts';
import { typedName } from '../records/names.ts';
import { shellQuote } from '../records/text.ts';
import { pairByTurns } from './pair-by-turns.ts';
import { pairMany } from './pair-many.ts';
import { newPairing, type PairSession, restartTimeout } from './pairing.ts';
import { askVenue } from './place/choose-place.ts';
import { warnOfOtherCodes } from './place/prepare-place.ts';

/**
 * Rejects options that are only valid for one screen. `flag` is the option that selects several
 * screens of a venue.
 */
function refuseScreenOptions({ args, options }: CommandContext, flag: string): void {
  const meant = args.screen;
  if (meant === undefined && !options.create && !options.replace && !options.qr && !options.qrWeb)
    return;
  throw usage(
    `${flag} pairs screens of a venue. Give it with --venue, without a screen, --create, --replace, --qr or --qr-web.`,
    meant && `Did you mean signage pair --venue ${shellQuote(meant.replace(/\/.*/s, ''))} ${flag}?`,
  );
}

async function namedVenue(call: CommandContext): Promise<Venue> {
  const { venue } = call.options;
  return venue === undefined
    ? ((await askVenue(call, undefined)) as Venue)
    : findVenue(call, venue);
}

/** Returns the command that pairs the remaining screens of the venue. */
const commandFor = (venue: Venue, flags: string) =>
  `signage pair --venue ${shellQuote(typedName(venue))} ${flags}`;

async function freeScreens(call: CommandContext, venue: Venue): Promise<readonly Screen[]> {
  const screens = await call.all('listScreens', {
    query: { venueId: venue.id, state: 'provisioning', selector: [...call.options.selector] },
  });
  if (screens.length === 0) {
    const matching = call.options.selector.length > 0 ? ' that matches --selector' : '';
    call.note(`Nothing to pair: no screen of "${venue.name}"${matching} is waiting for a TV.`);
  }
  warnOfOtherCodes(call, screens);
  return screens;
}

/**
 * Pairs all screens of a venue that have no TV: concurrently, or by turns with `--tv`. Returns the
 * exit code.
 */
export async function pairVenue(session: PairSession): Promise<number> {
  const { call } = session;
  refuseScreenOptions(call, '--all');
  if (call.options.tv)
    throw usage('--all asks for the claim of each TV: give --tv without a claim.');
  const venue = await namedVenue(call);
  const screens = await freeScreens(call, venue);
  if (call.options.tv !== undefined)
    return pairByTurns(session, venue, screens, commandFor(venue, '--all --tv'));
  if (call.common.dryRun) {
    for (const { id } of screens) await call.change('createCode', { body: { screenId: id } });
    return 0;
  }
  const pairings = screens.map((screen) => newPairing({ venue, screen, changes: [] }));
  return pairMany(restartTimeout(session), venue, pairings, commandFor(venue, '--all'));
}

/** Pairs the TVs whose claims are in the file of `--claims-file`. Returns the exit code. */
export async function pairClaims(session: PairSession): Promise<number> {
  const { call } = session;
  refuseScreenOptions(call, '--claims-file');
  const { readClaimsFile, confirmTvs } = await import('./claims-file.ts');
  const venue = await namedVenue(call);
  const pairings = await readClaimsFile(call, venue);
  await confirmTvs(call, venue, pairings);
  if (call.common.dryRun) {
    for (const { claim = '', place } of pairings)
      await call.change('offerClaim', { params: { claim }, body: { screenId: place.screen.id } });
    return 0;
  }
  return pairMany(restartTimeout(session), venue, pairings, commandFor(venue, '--all --tv'));
}
