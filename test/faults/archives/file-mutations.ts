// Defects in the media files of a dump. Checksums, counts and SHA-256 are right, so that only the
// checks of the files themselves can find them.
import type { DumpRecords } from '../../../src/store/dump/records.ts';
import type { FuzzRandom } from '../fuzz/random.ts';
import { jsonOf, lineWith, type Mutation, onLines, sealed, spoilt } from './mutations.ts';

type Part = DumpRecords['files'];

const isPart = (line: string) => line.includes('{"section":"files"');
const partLine = (row: Part) => lineWith(JSON.stringify({ section: 'files', row }));

/** Changes the lines of a dump. Then corrects its last line. */
const corrected = (change: (lines: string[], fuzzRandom: FuzzRandom) => void): Mutation =>
  onLines((lines, fuzzRandom) => {
    change(lines, fuzzRandom);
    const { end } = jsonOf(lines.at(-1) as string);
    const { files: _files, ...counts } = end.counts;
    const files = lines.filter(isPart).length;
    end.counts = files === 0 ? counts : { ...counts, files };
    lines[lines.length - 1] = lineWith(JSON.stringify({ end }));
    sealed(lines);
  });

/** Changes the records of media files. */
const onParts = (change: (parts: Part[], fuzzRandom: FuzzRandom) => void): Mutation =>
  corrected((lines, fuzzRandom) => {
    const at = lines.findIndex(isPart);
    const count = lines.filter(isPart).length;
    const parts = lines.slice(at, at + count).map((line) => jsonOf(line).row as Part);
    change(parts, fuzzRandom);
    lines.splice(at, count, ...parts.map(partLine));
  });

/** Changes a random record of a media file. */
const onPart = (change: (part: Part, fuzzRandom: FuzzRandom) => Partial<Part>): Mutation =>
  onParts((parts, fuzzRandom) => {
    const at = fuzzRandom.whole(0, parts.length - 1);
    const part = parts[at] as Part;
    parts[at] = { ...part, ...change(part, fuzzRandom) };
  });

/** Changes all records of a random media file. */
const onFile = (change: (part: Part, chosen: number) => Partial<Part>): Mutation =>
  onParts((parts, fuzzRandom) => {
    const { id } = fuzzRandom.one(parts);
    const chosen = fuzzRandom.whole(0, 2 ** 31 - 1);
    for (const [at, part] of parts.entries())
      if (part.id === id) parts[at] = { ...part, ...change(part, chosen) };
  });

const digits = '0123456789abcdef';
const sizes = [0, 1, 99, 101, 65_536, 149_999, 150_001, 2 ** 40, 2 ** 52];
const base64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** Texts that some decoders of base64 accept. */
const nonsense: ((data: string, fuzzRandom: FuzzRandom) => string)[] = [
  () => '',
  () => '=',
  (data) => data.slice(0, -1),
  (data) => `${data}=`,
  (data) => `${data.slice(0, 40)}\n${data.slice(40)}`,
  (data) => data.replace('A', '-').replace('/', '_'),
  (data) => `${data.slice(0, 8)}==${data}`,
  (_data, fuzzRandom) => fuzzRandom.text(`${base64}=!_-\u0000ä`, 1, 200),
];

/** Exchanges two records at random places. */
function swap(parts: Part[], fuzzRandom: FuzzRandom): void {
  const one = fuzzRandom.whole(0, parts.length - 1);
  const other = fuzzRandom.whole(0, parts.length - 1);
  [parts[one], parts[other]] = [parts[other] as Part, parts[one] as Part];
}

/** Splits a record into two at a random byte. */
function split(parts: Part[], fuzzRandom: FuzzRandom): void {
  const at = fuzzRandom.whole(0, parts.length - 1);
  const part = parts[at] as Part;
  const bytes = Buffer.from(part.data, 'base64');
  const cut = fuzzRandom.whole(1, bytes.length - 1);
  parts.splice(
    at,
    1,
    { ...part, data: bytes.subarray(0, cut).toString('base64') },
    { ...part, offset: part.offset + cut, data: bytes.subarray(cut).toString('base64') },
  );
}

export const fileMutations: Record<string, Mutation> = {
  'a file under another SHA-256': onFile(({ id }, chosen) => ({
    id: id.slice(0, chosen % 64) + digits[chosen % 16] + id.slice((chosen % 64) + 1),
  })),
  'a part of another file': onPart((_part, fuzzRandom) => ({
    id: fuzzRandom.text(digits, 64, 64),
  })),
  'a file of another size': onFile(({ size }, chosen) => ({
    size: [...sizes, size + 1, size - 1][chosen % (sizes.length + 2)] as number,
  })),
  'a part with another size of its file': onPart((_part, fuzzRandom) => ({
    size: fuzzRandom.one(sizes),
  })),
  'a part at another offset': onPart(({ offset }, fuzzRandom) => ({
    offset: fuzzRandom.one([0, 1, offset + 1, 65_536, 131_072, 2 ** 52]),
  })),
  'a part with other bytes': onPart(({ data }, fuzzRandom) => {
    const bytes = Buffer.from(data, 'base64');
    const at = fuzzRandom.whole(0, bytes.length - 1);
    bytes[at] = (bytes[at] as number) ^ fuzzRandom.whole(1, 255);
    return { data: bytes.toString('base64') };
  }),
  'a part with more or fewer bytes': onPart(({ data }, fuzzRandom) => {
    const bytes = Buffer.from(data, 'base64');
    const changed = fuzzRandom.happens(0.5)
      ? Buffer.concat([bytes, fuzzRandom.bytes(fuzzRandom.whole(1, 100))])
      : bytes.subarray(0, fuzzRandom.whole(1, bytes.length - 1));
    return { data: changed.toString('base64') };
  }),
  'a part that is not base64': onPart(({ data }, fuzzRandom) => ({
    data: fuzzRandom.one(nonsense)(data, fuzzRandom),
  })),
  'a part left out': onParts((parts, fuzzRandom) => {
    parts.splice(fuzzRandom.whole(0, parts.length - 1), 1);
  }),
  'a part twice': onParts((parts, fuzzRandom) => {
    const at = fuzzRandom.whole(0, parts.length - 1);
    parts.splice(at, 0, parts[at] as Part);
  }),
  'two parts swapped': onParts(swap),
  'a part split': onParts(split),
  'the last parts left out': onParts((parts, fuzzRandom) => {
    parts.length = fuzzRandom.whole(0, parts.length - 1);
  }),
  'the records of media left out': corrected((lines, fuzzRandom) => {
    const at = lines.findIndex((line) => line.includes('{"section":"media"'));
    lines.splice(at + fuzzRandom.whole(0, 2), 1);
    const { end } = jsonOf(lines.at(-1) as string);
    end.counts.media--;
    lines[lines.length - 1] = lineWith(JSON.stringify({ end }));
  }),
  'a part with other members': corrected((lines, fuzzRandom) => {
    const at = lines.findIndex(isPart) + fuzzRandom.whole(0, lines.filter(isPart).length - 1);
    lines[at] = spoilt(lines[at] as string, fuzzRandom);
  }),
  'a file cut short': (sound, fuzzRandom) =>
    sound.subarray(0, fuzzRandom.whole(sound.indexOf('{"section":"files"'), sound.length - 1)),
};
