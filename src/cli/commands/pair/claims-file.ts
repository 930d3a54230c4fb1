import type { Screen, Venue } from '../../../client/entities.ts';
import { type FieldError, SignageError } from '../../../domain/error.ts';
import { foldName } from '../../../domain/fold-name.ts';
import { type CsvLine, cellText, readCsvLines } from '../../input/csv-lines.ts';
import { readInput } from '../../input/input-file.ts';
import { readClaim } from '../../input/pairing-code.ts';
import type { CommandContext } from '../../program/context.ts';
import { countText } from '../../terminal/text.ts';
import { newPairing, type Pairing, placeName } from './pairing.ts';
import { describeTv } from './shown-claim.ts';

const columns = ['screen', 'claim'] as const;

/**
 * Returns a function that reads the cell of a column. Throws `invalid_file` if the header is not
 * valid.
 */
function readHeader(header: CsvLine | undefined, file: string, required: readonly string[]) {
  const names = header?.cells.map((cell) => cell.trim().toLowerCase()) ?? [];
  if (required.some((column) => !names.includes(column)))
    throw new SignageError(
      'invalid_file',
      `${file}, line 1: must name the columns: ${required.join(',')}.`,
    );
  return ({ cells }: CsvLine, column: (typeof columns)[number] | 'venue') =>
    cellText(cells[names.indexOf(column)] ?? '');
}

/** Returns a function that finds the screen of a line. `venue`: all screens are of this venue. */
async function screenFinder(call: CommandContext, venue: Venue | undefined) {
  const venues = venue ? [venue] : await call.all('listVenues');
  const query = venue ? { venueId: venue.id } : {};
  const key = (venueId: string, name: string) => `${venueId}/${foldName(name)}`;
  const byName = new Map<string, Screen>();
  for (const screen of await call.all('listScreens', { query }))
    byName
      .set(key(screen.venueId, screen.name), screen)
      .set(key(screen.venueId, screen.id), screen);
  return (venueName: string, name: string) => {
    const found =
      venue ??
      venues.find((one) => one.id === venueName || foldName(one.name) === foldName(venueName));
    if (!found) return { missing: { column: 'venue', what: `there is no venue "${venueName}"` } };
    const screen = byName.get(key(found.id, name));
    if (screen) return { place: { venue: found, screen, changes: [] } };
    const what = `there is no screen "${name}" in the venue "${found.name}"`;
    return { missing: { column: 'screen', what } };
  };
}

/**
 * Reads the file of `--claims-file`: CSV with the columns `screen`, by name or id, and `claim`, and
 * without `--venue` also `venue`. A line without a claim is skipped. Throws `invalid_file` with all
 * mistakes.
 */
export async function readClaimsFile(
  call: CommandContext,
  venue: Venue | undefined,
): Promise<Pairing[]> {
  const path: string = call.options.claimsFile;
  const file = path === '-' ? 'stdin' : path;
  const [header, ...lines] = readCsvLines(await readInput(call.io, path, { isSecret: true }), file);
  const cell = readHeader(header, file, venue ? columns : ['venue', ...columns]);
  const find = await screenFinder(call, venue);
  const fieldErrors: FieldError[] = [];
  const seen = new Map<string, number>();
  const pairings: Pairing[] = [];
  for (const line of lines) {
    const complain = (column: string, message: string) =>
      fieldErrors.push({ path: `${file}, line ${line.number}: ${column}`, message });
    const requireFirst = (column: string, value: string) => {
      const first = seen.get(value);
      if (first !== undefined) complain(column, `is also on line ${first}`);
      seen.set(value, first ?? line.number);
    };
    const typed = cell(line, 'claim');
    if (typed === '') continue;
    const { place, missing } = find(cell(line, 'venue'), cell(line, 'screen'));
    if (place) requireFirst('screen', place.screen.id);
    else complain(missing.column, missing.what);
    try {
      const claim = readClaim(typed);
      requireFirst('claim', claim);
      if (place) pairings.push(newPairing(place, claim));
    } catch (error) {
      complain('claim', (error as SignageError).message);
    }
  }
  if (fieldErrors.length > 0) {
    const { invalidFile } = await import('../../input/source-document.ts');
    throw invalidFile(fieldErrors);
  }
  if (pairings.length === 0) call.note(`Nothing to pair: ${file} has no line with a claim.`);
  return pairings;
}

/**
 * Shows each TV with its screen, and asks whether to pair them. Does nothing with `--yes`. Throws
 * `claim_not_found` if no TV shows one of the claims.
 */
export async function confirmTvs(
  call: CommandContext,
  where: string,
  pairings: readonly Pairing[],
): Promise<void> {
  if (call.common.yes || pairings.length === 0) return;
  for (const { claim = '', place } of pairings) {
    const tv = await describeTv(call, claim).catch((error: unknown) => {
      call.note(`${placeName(place)}, claim ${claim}:`);
      throw error;
    });
    call.note(`${placeName(place)}: ${tv}`);
  }
  await call.confirmDestruction(
    `Pair ${countText(pairings.length, 'TV')} with these screens of ${where}?`,
  );
}
