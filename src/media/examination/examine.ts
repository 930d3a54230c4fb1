import { isCutOff } from './cut-off.ts';
import { binaryType, formatOf } from './format.ts';
import { decodeMarkup, readXml } from './markup.ts';
import { judgeType } from './media-type.ts';
import { type ForeignFile, refusedFile, type Verdict } from './verdict.ts';
import { readVideo } from './video.ts';

const cutOff =
  'The end of this file is missing: TVs would show only a part of it, or nothing. Copy or export it again.';

async function judge({ head, isWhole, source }: ForeignFile): Promise<Verdict> {
  const bytes = Buffer.from(head.buffer, head.byteOffset, head.byteLength);
  const markup = decodeMarkup(bytes, isWhole);
  const xml = markup.text.trimStart().startsWith('<') ? readXml(markup) : undefined;
  const found = await binaryType(bytes);
  const { type, refusal } = judgeType(found, { markup, xml });
  const format = formatOf(found, { markup, xml });
  if (type && source && (await isCutOff(type, source)))
    return { type: undefined, refusal: cutOff, format, video: undefined };
  return {
    type,
    refusal,
    format,
    video: source && format?.kind === 'video' ? await readVideo(source) : undefined,
  };
}

/** Examines a file in this thread. Only the worker of an `Examiner` calls it. */
export async function examine(file: ForeignFile): Promise<Verdict> {
  // A library that does not expect such bytes may throw anything.
  return judge(file).catch(() =>
    refusedFile('a damaged file', 'This file is damaged, so its type is unknown. Export it again.'),
  );
}
