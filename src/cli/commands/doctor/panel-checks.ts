import type { Device } from '../../../client/entities.ts';
import { isObject } from '../../../domain/json/is-object.ts';
import { unknownSettings } from '../../records/unknown-settings.ts';
import { type DoctorFinding, ok, warn } from './finding.ts';
import type { ScreenContext, ScreenStatus } from './glass-checks.ts';

type Report = NonNullable<Device['report']>;

const codecNames: Readonly<Record<string, string>> = {
  h264: 'H.264',
  hevc: 'HEVC',
  vp9: 'VP9',
  av1: 'AV1',
};
const nameOf = (codec: string) => codecNames[codec] ?? codec;
const namesOf = (codecs: readonly string[]) => codecs.map(nameOf).join(', ');

function describe({ engine, width, height, plays = [], lacks = [] }: Report): string {
  const size = width && height ? ` on ${width} × ${height} pixels` : '';
  const without = lacks.length > 0 ? `, not ${namesOf(lacks)}` : '';
  const videos = plays.length > 0 ? ` plays ${namesOf(plays)}${without}` : ' plays no known video';
  return `${engine ?? 'Its browser'}${size}${videos}.`;
}

/** Says whether videos turn as the config asks for. */
function checkRotation({ turnsVideos }: Report, rotate: unknown): DoctorFinding[] {
  if (typeof rotate !== 'number' || rotate === 0 || turnsVideos === true) return [];
  const what =
    turnsVideos === false
      ? 'Somebody saw at /player#check that its videos do not turn with player.rotate.'
      : 'Nobody has seen yet whether its videos turn with player.rotate: open /player#check on it.';
  return [warn('rotate', `${what} Prefer the setting of the panel itself.`)];
}

/** Finds settings of the web player that it ignores: version 0.1.0 stored any. */
export async function checkSettings({ quotedName }: ScreenContext, player: unknown) {
  if (player === undefined) return [];
  const { playerSettings } = await import('../../../domain/records/config.ts');
  const issues = playerSettings.safeParse(player).error?.issues ?? [];
  const sentences = [
    ...issues.map(
      ({ path, message }) =>
        `${['player', ...path].join('.')} ${message}. The player uses its default.`,
    ),
    ...(isObject(player) ? await unknownSettings({ player }) : []),
  ];
  const next = `signage explain ${quotedName}`;
  return sentences.map((sentence) => warn('config', sentence, next));
}

/** Reports what the web player found out about its TV, and what of it disturbs the playlist. */
export function checkPanel(
  { ago }: ScreenContext,
  { report }: Device,
  { errors, muted }: ScreenStatus,
  player: unknown,
): DoctorFinding[] {
  if (!report) return [];
  const settings = isObject(player) ? player : {};
  const { at, checkedAt, lacks = [], keepsStorage, sound } = report;
  const tried =
    checkedAt === undefined
      ? 'Open /player#check on it to try more.'
      : `It was tried by /player#check at ${ago(checkedAt)}.`;
  const findings = [ok('panel', `${describe(report)} Its player started at ${ago(at)}. ${tried}`)];
  if (lacks.length > 0 && errors.some(({ reason }) => reason === 'codec')) {
    const what = `A video cannot be decoded, and the TV plays no ${namesOf(lacks)}.`;
    const convert = 'ffmpeg -i IN -c:v libx264 -pix_fmt yuv420p -movflags +faststart OUT.mp4';
    findings.push(warn('codec', `${what} Convert it: ${convert}`));
  }
  if (keepsStorage === false) {
    const what = 'It has lost what it stored when it was restarted.';
    const advice = 'Switch on persistent storage in its settings, or pair it by a player link.';
    findings.push(warn('storage', `${what} ${advice}`));
  }
  if (sound === false && settings.sound === true && !muted)
    findings.push(warn('sound', 'Its browser forbids sound, as /player#check has found.'));
  return [...findings, ...checkRotation(report, settings.rotate)];
}
