// Files that lie about their sizes, depths, counts and entities, and their healthy neighbours.
import fc from 'fast-check';
import { makeVideo } from '../../cli/media/make-video.ts';
import { box, mp4, mp4Of, uint32, webm, withEndlessRun, withTracks } from './lying-videos.ts';

export interface HostileFile {
  kind: string;
  file: Buffer;
}

const bytes = (text: string) => Buffer.from(text, 'latin1');
const svgNamespace = 'http://www.w3.org/2000/svg';
const png = Buffer.concat([
  bytes('\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x02\0\0\0'),
  bytes('\x90wS\xde\0\0\0\x0cIDATx\x9cc\xf8\xcf\xc0\0\0\x03\x01\x01\0\xc9\xfe\x92\xef'),
  bytes('\0\0\0\0IEND\xaeB`\x82'),
]);

/** Files that must be accepted, by their kind. */
export async function healthyFiles(): Promise<Record<string, Buffer>> {
  return {
    png,
    jpeg: bytes('\xff\xd8\xff\xe0\0\x10JFIF\0\x01\x01\0\0\x01\0\x01\0\0\xff\xd9'),
    webp: bytes('RIFF\x1a\0\0\0WEBPVP8L\x0d\0\0\0/\0\0\0\x10\x07\x10\x11\x11\x88\x88\xfe\x07\0'),
    gif: bytes(
      'GIF89a\x01\0\x01\0\x80\0\0\0\0\0\xff\xff\xff,\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0;',
    ),
    avif: Buffer.concat([box('ftyp', bytes('avif\0\0\0\0mif1miaf')), box('mdat', bytes('1234'))]),
    svg: bytes(`<svg xmlns="${svgNamespace}"><g/></svg>`),
    html: bytes('<!doctype html><title>Menu</title><p>Soup'),
    mp4: Buffer.from(await makeVideo('avc')),
    webm: Buffer.from(await makeVideo('vp8')),
  };
}

/** The figures with which a file lies: most are small, some are as large as they can be. */
const figure = fc.oneof(
  fc.nat(300),
  fc.constantFrom(0xffff, 0x10000, 0xffffff, 0x7fffffff, 0x80000000, 0xfffffff0, 0xffffffff),
);
const times = fc.oneof(fc.nat(20), fc.nat(2000), fc.constantFrom(6000, 20_000, 100_000));
const maxBytes = 1024 * 1024;
const repeated = (part: string, count: number) =>
  part.repeat(Math.min(count, Math.ceil(maxBytes / Math.max(1, part.length))));

/** What stands before the root, or in it, as often as wished. */
const pieces = [
  '<!--',
  '<!-- -->',
  '<?',
  '<?a ?>',
  '<?a',
  '<!ENTITY a "',
  "<!ENTITY b '",
  '<!ENTITY a "b">',
  '<![CDATA[',
  '<![CDATA[ ]]>',
  '<!DOCTYPE svg [',
  '<!',
  '<',
  '>',
  '&',
  '&#x',
  '&a;',
  '&amp;',
  '"',
  "'",
  ' ',
  '\n',
  '\ufeff',
  'x',
  '-',
  ']',
  '<g>',
  '</g>',
  '<g a="">',
  '<g xmlns:a="a">',
  '<a:g xmlns:a="&a;">',
  '<script',
  '<script type=',
] as const;
const noise = fc
  .array(fc.tuple(fc.constantFrom(...pieces), times), { minLength: 1, maxLength: 5 })
  .map((parts) => parts.map(([piece, count]) => repeated(piece, count)).join(''));

const entities = fc
  .record({
    length: fc.oneof(fc.nat(4000), fc.constantFrom(60_000, 400_000)),
    names: fc.integer({ min: 1, max: 20 }),
    attributes: fc.integer({ min: 1, max: 20 }),
    uses: fc.oneof(fc.nat(50), fc.constant(1200)),
    place: fc.constantFrom('namespace', 'attribute', 'text', 'prefixed'),
  })
  .map(({ length, names, attributes, uses, place }) => {
    const declared = Array.from({ length: names }, (_, at) => {
      const inner = at === 0 ? 'x'.repeat(length) : `&e${at - 1};`.repeat(10);
      return `<!ENTITY e${at} "${inner}">`;
    }).join('');
    const value = `&e${names - 1};`.repeat(uses);
    const each = (name: (at: number) => string) =>
      Array.from({ length: attributes }, (_, at) => ` ${name(at)}="${value}"`).join('');
    const [own, inner] = {
      namespace: [each((at) => `xmlns:a${at}`), ''],
      attribute: [each((at) => `a${at}`), ''],
      text: ['', value],
      prefixed: [each((at) => `xmlns:a${at}`), '<a0:g/>'.repeat(Math.min(uses, 500))],
    }[place];
    return `<!DOCTYPE svg [${declared}]><svg xmlns="${svgNamespace}"${own}>${inner}</svg>`;
  });

const many = fc
  .tuple(fc.constantFrom('attributes', 'namespaces', 'prefixes', 'depth'), times)
  .map(([what, count]) => {
    const each = (part: (at: number) => string) =>
      Array.from({ length: Math.min(count, 30_000) }, (_, at) => part(at)).join('');
    const inner = {
      attributes: `<g${each((at) => ` a${at}=""`)}/>`,
      namespaces: `<g${each((at) => ` xmlns:a${at}="a"`)}/>`,
      prefixes: `<g xmlns:a="a">${each((at) => `<a:g a:a${at}="" a:a${at}="">`)}`,
      depth: each((at) => `<g xmlns:a${at % 9}="a"><a${at % 9}:g>`),
    }[what];
    return `<svg xmlns="${svgNamespace}">${inner}</svg>`;
  });

const around = fc
  .tuple(
    fc.constantFrom('', '<!DOCTYPE svg [', '<?xml version="1.0"?>', '<!doctype html>', '<a '),
    noise,
    fc.constantFrom('', `<svg xmlns="${svgNamespace}"/>`, '<html>', ']>', '-->', '?>'),
  )
  .map((parts) => parts.join(''));

const markup: fc.Arbitrary<HostileFile> = fc
  .tuple(fc.oneof(entities, many, around), fc.constantFrom('utf8', 'utf16le', 'latin1'))
  .map(([text, encoding]) => ({
    kind: 'markup',
    file: Buffer.from(encoding === 'utf16le' ? `\ufeff${text}` : text, encoding as 'utf8'),
  }));

/** Parts of a picture with a length that is not theirs. */
const parts = (part: (length: number, data: Buffer) => Buffer, signature: string) =>
  fc
    .array(fc.tuple(figure, fc.uint8Array({ maxLength: 40 }), times), { maxLength: 4 })
    .map((all) => {
      const made = all.flatMap(([length, data, count]) => {
        const one = part(length, Buffer.from(data));
        return Array<Buffer>(Math.min(count, Math.ceil(200_000 / one.length))).fill(one);
      });
      return Buffer.concat([bytes(signature), ...made]);
    });

const typed = (names: readonly string[]) => (length: number, data: Buffer) =>
  Buffer.concat([uint32(length), bytes(names[length % names.length] as string), data]);

const pictures: fc.Arbitrary<HostileFile> = fc.oneof(
  parts(typed(['IHDR', 'acTL', 'iTXt', 'IDAT', 'eXIf']), '\x89PNG\r\n\x1a\n').map((file) => ({
    kind: 'png',
    file,
  })),
  parts(
    (length, data) => Buffer.concat([bytes('\xff\xe1'), uint32(length).subarray(2), data]),
    '\xff\xd8',
  ).map((file) => ({ kind: 'jpeg', file })),
  parts(typed(['VP8X', 'ANMF', 'ICCP', 'EXIF']), 'RIFF\xff\xff\xff\xffWEBP').map((file) => ({
    kind: 'webp',
    file,
  })),
  parts(
    (length, data) => Buffer.concat([bytes(`!\xfe${String.fromCharCode(length % 256)}`), data]),
    'GIF89a',
  ).map((file) => ({ kind: 'gif', file })),
  fc.tuple(figure, times).map(([size, count]) => ({
    kind: 'avif',
    file: Buffer.concat([uint32(size), bytes(`ftypmif1\0\0\0\0${repeated('heix', count)}avif`)]),
  })),
  // Formats that the detection of types reads further than their signature.
  parts((length, data) => Buffer.concat([uint32(length), data]), 'ID3\x03\0\0\x7f\x7f\x7f\x7f').map(
    (file) => ({ kind: 'other', file }),
  ),
  parts(
    (length, data) => Buffer.concat([bytes('PK\x03\x04'), uint32(length), Buffer.alloc(18), data]),
    'PK\x03\x04',
  ).map((file) => ({ kind: 'other', file })),
  parts(
    (length, data) => Buffer.concat([data, uint32(length)]),
    '\x30\x26\xb2\x75\x8e\x66\xcf\x11\xa6\xd9',
  ).map((file) => ({ kind: 'other', file })),
);

const videos: fc.Arbitrary<HostileFile> = fc.oneof(
  { arbitrary: mp4(figure, times).map((file) => ({ kind: 'mp4', file })), weight: 3 },
  // Many of these take the whole time that a file may take.
  { arbitrary: webm(figure, times).map((file) => ({ kind: 'webm', file })), weight: 1 },
);

/** Healthy files of which some bytes are others. */
const damaged = (healthy: Record<string, Buffer>): fc.Arbitrary<HostileFile> =>
  fc
    .tuple(
      fc.constantFrom(...Object.entries(healthy)),
      fc.array(fc.tuple(fc.double({ min: 0, max: 0.999, noNaN: true }), fc.nat(255)), {
        minLength: 1,
        maxLength: 8,
      }),
      fc.oneof(fc.constant(0xff), fc.constant(undefined)),
    )
    .map(([[kind, file], changes, all]) => {
      const copy = Buffer.from(file);
      for (const [at, byte] of changes) copy[Math.floor(at * copy.length)] = all ?? byte;
      return { kind, file: copy };
    });

/** Makes `count` files from a seed. */
export async function* hostileFiles(seed: number, count: number): AsyncGenerator<HostileFile> {
  const all = fc.oneof(
    { arbitrary: markup, weight: 3 },
    { arbitrary: pictures, weight: 2 },
    { arbitrary: videos, weight: 2 },
    { arbitrary: damaged(await healthyFiles()), weight: 2 },
  );
  // Few at a time: together they would not fit into memory.
  const atOnce = 50;
  for (let done = 0; done < count; done += atOnce)
    yield* fc.sample(all, {
      seed: seed * 1_000_003 + done,
      numRuns: Math.min(atOnce, count - done),
    });
}

/** Files that once stopped the service or a command. */
export function knownFiles(): HostileFile[] {
  const doctype = (subset: string) => `<!DOCTYPE svg [${subset}]>`;
  const uses = '&e;'.repeat(1200);
  const names = Array.from({ length: 12 }, (_, at) => ` xmlns:a${at}="${uses}"`).join('');
  const svg = `<svg xmlns="${svgNamespace}"`;
  const run = box('ctts', Buffer.alloc(4), uint32(1), uint32(0xffffffff), uint32(1));
  return [
    {
      kind: 'an entity of 400 KB that 12 namespaces name 1,200 times each',
      file: bytes(`${doctype(`<!ENTITY e "${'x'.repeat(400_000)}">`)}${svg}${names}/>`),
    },
    {
      kind: 'an entity of 3 KB that 12 namespaces name 1,200 times each',
      file: bytes(`${doctype(`<!ENTITY e "${'x'.repeat(3000)}">`)}${svg}${names}/>`),
    },
    { kind: 'a DOCTYPE full of <!--', file: bytes(`${doctype('<!--'.repeat(250_000))}${svg}/>`) },
    {
      kind: 'a processing instruction of 1 MiB',
      file: bytes(`<?a ${'x'.repeat(maxBytes - 100)}?>${svg}/>`),
    },
    { kind: 'a ctts run of 4 billion samples', file: mp4Of([run]) },
    { kind: 'a fragment of 4 billion samples', file: withEndlessRun() },
    { kind: 'a million tracks', file: withTracks(1_000_000) },
  ];
}
