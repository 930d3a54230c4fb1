import { mediaTypes } from '../../domain/media/media-types.ts';
import { pictureFindings } from './finding-texts.ts';
import { binaryType, formatOf } from './format.ts';
import type { ByteSource } from './formats/byte-source.ts';
import { readGif } from './formats/gif.ts';
import { lacksPicture, paged, readLayout } from './formats/iso-box.ts';
import { readJpeg } from './formats/jpeg.ts';
import type { Picture } from './formats/picture.ts';
import { readPng } from './formats/png.ts';
import { readWebp } from './formats/webp.ts';
import { WholeFile } from './formats/whole-file.ts';
import { decodeMarkup, readXml } from './markup.ts';
import { judgeType } from './media-type.ts';
import { type ForeignFile, refusedFile, type Verdict } from './verdict.ts';
import { examineVideo } from './video.ts';

/** Reads the boxes of an AVIF image. The first `ispe` has the size of the image or of a tile. */
async function readAvif(head: Buffer, source: ByteSource): Promise<Picture> {
  const layout = await readLayout(paged(source));
  const hasPixels = layout.hasData || head.includes('idat', 0, 'latin1');
  const at = head.indexOf('ispe', 0, 'latin1');
  const size =
    at >= 0 && at + 16 <= head.length
      ? { width: head.readUInt32BE(at + 8), height: head.readUInt32BE(at + 12) }
      : {};
  return {
    ...size,
    isAnimated: head.toString('latin1', 8, 12) === 'avis',
    cut: lacksPicture(layout) || !hasPixels ? 'picture' : layout.open ? 'end' : undefined,
    expectedBytes: layout.open?.to,
  };
}

const nothing: Pick<Verdict, 'duration' | 'findings'> = { duration: undefined, findings: [] };

const readers: Readonly<
  Record<string, (head: Buffer, source: ByteSource) => Promise<Picture> | Picture>
> = {
  'image/png': (_, source) => readPng(new WholeFile(source)),
  'image/jpeg': (_, source) => readJpeg(new WholeFile(source)),
  'image/gif': (_, source) => readGif(new WholeFile(source)),
  'image/webp': (head, { size }) => readWebp(head, size),
  'image/avif': readAvif,
};

/** Examines a file behind its first bytes. What cannot be read is not judged. */
async function examineContent(
  head: Buffer,
  { type, format }: Pick<Verdict, 'type' | 'format'>,
  source: ByteSource,
): Promise<Pick<Verdict, 'duration' | 'findings'>> {
  let hasFailed = false;
  const watched: ByteSource = {
    size: source.size,
    read: (start, end) =>
      source.read(start, end).catch((error: unknown) => {
        hasFailed = true;
        throw error;
      }),
  };
  const examined = async () => {
    if (format?.kind === 'video') return examineVideo(head, watched);
    const read = type && readers[type];
    if (!type || !read) return nothing;
    const picture = await read(head, watched);
    const { extension } = mediaTypes[type];
    return { ...nothing, findings: pictureFindings(picture, source.size, extension) };
  };
  try {
    const { duration, findings } = await examined();
    // The place of an index was found without it.
    const known = hasFailed ? findings.filter(({ check }) => check === 'moov') : findings;
    return { duration, findings: known };
  } catch (error) {
    if (hasFailed) return nothing;
    throw error;
  }
}

async function judge({ head, isWhole, source }: ForeignFile): Promise<Verdict> {
  const bytes = Buffer.from(head.buffer, head.byteOffset, head.byteLength);
  const markup = decodeMarkup(bytes, isWhole);
  const xml = markup.text.trimStart().startsWith('<') ? readXml(markup) : undefined;
  const found = await binaryType(bytes);
  const format = formatOf(found, { markup, xml });
  const verdict = { ...judgeType(found, format, { markup, xml }), format };
  return { ...verdict, ...(source ? await examineContent(bytes, verdict, source) : nothing) };
}

/** Examines a file in this thread. Only the worker of an `Examiner` calls it. */
export async function examine(file: ForeignFile): Promise<Verdict> {
  // A library that does not expect such bytes may throw anything.
  return judge(file).catch(() =>
    refusedFile('a damaged file', 'This file is damaged, so its type is unknown. Export it again.'),
  );
}
