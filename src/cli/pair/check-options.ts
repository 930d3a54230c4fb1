import type { CommandContext } from '../command/context.ts';
import { usage } from '../options/settings.ts';

/** Throws `usage` for options that exclude each other. */
export function checkOptions({ options, common }: CommandContext): void {
  if (options.qr && options.qrWeb)
    throw usage('--qr and --qr-web show different QR codes. Give one.');
  const given = {
    '--all': options.all,
    '--claims-file': options.claimsFile !== undefined,
    '--tv': options.tv !== undefined,
    '--qr': options.qr,
    '--qr-web': options.qrWeb,
    '--codes-file': options.codesFile !== undefined,
    '--dry-run': common.dryRun,
  };
  const refuse = (reason: string, flags: readonly (keyof typeof given)[]) => {
    const other = flags.find((flag) => given[flag]);
    if (other) throw usage(`${reason}, so ${other} does not work with it.`);
  };
  if (options.playerLinkFile !== undefined)
    refuse('--player-link-file registers in the place of a TV', [
      '--tv',
      '--claims-file',
      '--all',
      '--qr',
      '--qr-web',
      '--codes-file',
      '--dry-run',
    ]);
  if (given['--claims-file'])
    refuse('--claims-file names the screens and their TVs', ['--all', '--tv']);
  const flag = given['--tv'] ? '--tv' : '--claims-file';
  if (given[flag])
    refuse(`The TV of ${flag} gets its code from the service`, [
      '--qr',
      '--qr-web',
      '--codes-file',
    ]);
  if (options.selector?.length > 0 && !options.all)
    throw usage('--selector selects screens of a venue: give --all, too.');
}
