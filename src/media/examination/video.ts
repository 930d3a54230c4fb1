import { CustomSource, Input, type InputVideoTrack, MATROSKA, MP4, QTFF, WEBM } from 'mediabunny';
import { largest, smallest } from '../../domain/numbers/extremes.ts';
import type { FileFinding } from './file-finding.ts';
import * as texts from './finding-texts.ts';
import type { ByteSource } from './formats/byte-source.ts';
import { readEbmlEnd } from './formats/ebml.ts';
import {
  type Box,
  boxesIn,
  findBox,
  lacksPicture,
  paged,
  readLayout,
  shortIndex,
} from './formats/iso-box.ts';
import { isInterlacedAvc } from './formats/sequence-parameters.ts';
import type { Verdict } from './verdict.ts';

/** Codecs by their names in files, and the TVs that do not play them. */
const rareCodecs: readonly (readonly [RegExp, name: string, who: string])[] = [
  [
    /^(?:hev1|hvc1|hevc)/,
    'HEVC (H.265)',
    'Firefox, and Chromium without a decoder in hardware, do not play it.',
  ],
  [/^avc[13]\.6e/i, 'H.264 with 10 bits (High 10)', 'Hardly any TV decodes it in hardware.'],
  [
    /^avc[13]\.(?:7a|f4|2c)/i,
    'H.264 with a colour format (4:2:2 or 4:4:4) of cameras',
    'Hardly any TV decodes it in hardware.',
  ],
  [
    /^av(?:01|1)/,
    'AV1',
    'TVs made before 2021, Chromium before 70 and most Safari do not play it.',
  ],
  [/^(?:mp4v 6[0-5a]|mp[12]v|m2v1|hdv|v_mpeg[12])/i, 'MPEG-2', 'No browser plays it, and few TVs.'],
  [/^(?:mp4v 6c|m?jpe?g|mjp|v_mjpeg)/i, 'Motion JPEG', 'No browser plays it, and few TVs.'],
  [
    /^(?:mp4v|v_mpeg4\/iso\/(?!avc))/i,
    'MPEG-4 Part 2 (DivX, Xvid)',
    'No browser plays it, and few TVs.',
  ],
  [/^ap[cn4]|^v_prores/i, 'ProRes', 'It is for editing: no browser plays it.'],
];

function codecFinding(names: readonly string[]): FileFinding[] {
  const rare = rareCodecs.find(([pattern]) => names.some((name) => pattern.test(name)));
  return rare ? [texts.codec(rare[1], rare[2])] : [];
}

/**
 * Returns the name of the format of samples, for mp4v with its object type in hex: several codecs
 * have this name.
 */
async function sampleFormat(file: ByteSource, track: Box | undefined) {
  const table = track && (await findBox(file, track, ['mdia', 'minf', 'stbl', 'stsd']));
  if (!table) return undefined;
  const end = Math.min(table.to, table.from + 512, file.size);
  const bytes = Buffer.from(await file.read(table.from, end));
  const name = bytes.toString('latin1', 12, 16);
  const box = bytes.indexOf('esds');
  if (box < 0) return name;
  // Two descriptors, of which each begins with its tag and a length (ISO 14496-1, §7.2.6).
  const behindLength = (at: number) => {
    let last = at;
    while ((bytes[last] ?? 0) & 0x80) last++;
    return last + 1;
  };
  const objectType = bytes[behindLength(behindLength(box + 9) + 4)];
  return `${name} ${objectType?.toString(16)}`;
}

/** In hvcC, the flag of a source that is interlaced (ISO 14496-15, §8.3.3.1). */
const isInterlacedHevc = (record: Buffer) => ((record[6] ?? 0) & 0x40) !== 0;

async function pictureFindings(
  track: InputVideoTrack,
  format: string | undefined,
): Promise<FileFinding[]> {
  const { codec, internalCodecId, rotation, codedWidth, codedHeight } = track;
  const parameters = await track.getCodecParameterString();
  const config = await track.getDecoderConfig().catch(() => null);
  const description = config?.description;
  const record = description ? Buffer.from(description as Uint8Array) : undefined;
  const names = [format, parameters, codec, internalCodecId].filter(
    (one) => typeof one === 'string',
  );
  const isInterlaced =
    record !== undefined &&
    ((codec === 'avc' && isInterlacedAvc(record)) ||
      (codec === 'hevc' && isInterlacedHevc(record)));
  const resize =
    "ffmpeg -i IN -vf scale='min(3840,iw)':-2 -c:v libx264 -pix_fmt yuv420p -movflags +faststart OUT.mp4";
  return [
    ...texts.sizeFindings({ width: codedWidth, height: codedHeight }, resize),
    ...codecFinding(names),
    ...(rotation === 0 ? [] : [texts.rotated(rotation)]),
    ...(isInterlaced ? [texts.interlaced()] : []),
  ];
}

type VideoVerdict = Pick<Verdict, 'duration' | 'findings'>;

/** Bytes that stay in memory for a further read. */
const maxCacheBytes = 1024 * 1024;

/** Reads length, codec and more of a video from its index. */
async function readTracks({ size, read }: ByteSource, format?: string): Promise<VideoVerdict> {
  const source = new CustomSource({
    getSize: () => size,
    read,
    maxCacheSize: maxCacheBytes,
    // The read that needs these bytes fails, too.
    handleUnhandledError: () => {},
  });
  const input = new Input({ formats: [MP4, QTFF, WEBM, MATROSKA], source });
  try {
    const seconds = await input.getDurationFromMetadata();
    const duration = seconds !== null && seconds > 0 ? seconds : undefined;
    const track = await input.getPrimaryVideoTrack();
    if (track) return { duration, findings: await pictureFindings(track, format) };
    const hasSound = (await input.getPrimaryAudioTrack()) !== null;
    return { duration, findings: [hasSound ? texts.noPicture() : texts.unreadable()] };
  } catch {
    return { duration: undefined, findings: [texts.unreadable()] };
  } finally {
    input.dispose();
  }
}

/** Rows of a table of frame lengths that are read. */
const maxRates = 64;
/** Clocks of milliseconds round lengths by less. */
const steady = 1.5;

/** Returns the first track of an MP4 with pictures. */
async function pictureTrack(file: ByteSource, moov: Box): Promise<Box | undefined> {
  for await (const track of boxesIn(file, moov)) {
    const handler = track.type === 'trak' && (await findBox(file, track, ['mdia', 'hdlr']));
    if (!handler) continue;
    const kind = await file.read(handler.from + 8, Math.min(file.size, handler.from + 12));
    if (Buffer.from(kind).toString('latin1') === 'vide') return track;
  }
  return undefined;
}

/** Returns whether the table of frame lengths of a track has very different ones. */
async function hasVariableRate(file: ByteSource, track: Box | undefined): Promise<boolean> {
  const table = track && (await findBox(file, track, ['mdia', 'minf', 'stbl', 'stts']));
  if (!table) return false;
  const end = Math.min(table.to, table.from + 8 + maxRates * 8, file.size);
  const rows = Buffer.from(await file.read(table.from, end));
  if (rows.length < 16) return false;
  // The last frame may stay longer.
  const count = Math.min(rows.readUInt32BE(4) - 1, (rows.length - 8) >> 3);
  const lengths = Array.from({ length: Math.max(0, count) }, (_, at) =>
    rows.readUInt32BE(12 + at * 8),
  );
  return largest(lengths) > smallest(lengths) * steady;
}

const nothing = (finding: FileFinding) => ({ duration: undefined, findings: [finding] });

async function examineMp4(file: ByteSource): Promise<VideoVerdict> {
  const layout = await readLayout(file);
  const { moov, isBehind, open, isLonger } = layout;
  if (!moov && isBehind) return nothing(texts.indexBehind());
  if (!moov && isLonger) return nothing(texts.costly());
  if (!moov) return nothing(open ? texts.truncated(file.size, open.to) : texts.noIndex());
  const track = await pictureTrack(file, moov);
  const format = await sampleFormat(file, track);
  const { duration, findings } = await readTracks(await shortIndex(file, moov), format);
  const isCut = lacksPicture(layout);
  return {
    duration,
    findings: [
      ...(isCut ? [texts.truncated(file.size, open?.to)] : []),
      ...findings,
      ...(open && !isCut ? [texts.noEnd('ffmpeg -i IN -c copy -movflags +faststart OUT.mp4')] : []),
      ...(isBehind ? [texts.indexBehind()] : []),
      ...((await hasVariableRate(file, track)) ? [texts.variableRate()] : []),
    ],
  };
}

async function examineWebm(file: ByteSource): Promise<VideoVerdict> {
  const { cut, expectedBytes } = await readEbmlEnd(file);
  if (cut === 'picture') return nothing(texts.truncated(file.size, expectedBytes));
  const { duration, findings } = await readTracks(file);
  const end = cut === 'end' ? [texts.noEnd('ffmpeg -i IN -c copy OUT.webm')] : [];
  return { duration, findings: [...findings, ...end] };
}

/** Examines a video by a few small reads, wherever its index is. Ogg videos are not examined. */
export async function examineVideo(head: Buffer, source: ByteSource): Promise<VideoVerdict> {
  const file = paged(source);
  if (/^(?:ftyp|moov|mdat|wide|free|skip)$/.test(head.toString('latin1', 4, 8)))
    return examineMp4(file);
  const isEbml = head.length >= 4 && head.readUInt32BE(0) === 0x1a45dfa3;
  return isEbml ? examineWebm(file) : { duration: undefined, findings: [] };
}
