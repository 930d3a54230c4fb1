import { SaxesParser } from 'saxes';

export const svgNamespace = 'http://www.w3.org/2000/svg';

/** The first element of an XML text. */
interface XmlRoot {
  /** Without its prefix. */
  name: string;
  namespace: string;
}

/** What was read of an XML text. */
export interface Xml {
  root: XmlRoot | undefined;
  /** The first error in the text. `undefined`: it has none, as far as it was read. */
  flaw: string | undefined;
  /** Why the text was not read on: it would have cost too much. */
  excess: string | undefined;
}

/** A text that may be XML or HTML, without its byte order mark. */
export interface Markup {
  text: string;
  /** Whether the file is complete, so that a missing end is a flaw. */
  isWhole: boolean;
  /** Whether bytes are invalid in the encoding, and replaced in the text. */
  isDamaged: boolean;
}

/** saxes looks prefixes up in each ancestor, so deep nesting takes quadratic time. */
const maxDepth = 256;
/** Adobe Illustrator writes up to 2 KiB of entities for the names of namespaces. */
const maxDoctypeLength = 4096;
/** Characters that entities may add to a text: as many as it may have itself. */
const maxExpansion = 64 * 1024;
/** A flaw may quote a name of the file, however long it is. */
const maxFlawLength = 200;

/** Ends the parser early. */
class Stop extends Error {}

/**
 * Decodes a text as browsers decode an image: UTF-16 with a byte order mark, else UTF-8. They
 * ignore the encoding in the XML declaration.
 */
export function decodeMarkup(bytes: Uint8Array, isWhole: boolean): Markup {
  const mark = Buffer.from(bytes.subarray(0, 2)).toString('latin1');
  const encoding = { '\xff\xfe': 'utf-16le', '\xfe\xff': 'utf-16be' }[mark] ?? 'utf-8';
  // The last character of an incomplete file may be cut.
  const options = { stream: !isWhole };
  try {
    const text = new TextDecoder(encoding, { fatal: true }).decode(bytes, options);
    return { text, isWhole, isDamaged: false };
  } catch {
    return { text: new TextDecoder(encoding).decode(bytes, options), isWhole, isDamaged: true };
  }
}

/** What may stand before the first tag: comments, and declarations of XML. */
const asides = [
  ['<!--', '-->'],
  ['<?', '?>'],
] as const;

/** Returns a text from its first tag, declaration of a type, or other character on. */
export function fromFirstTag(text: string): string {
  let rest = text.trimStart();
  for (;;) {
    const aside = asides.find(([start]) => rest.startsWith(start));
    if (!aside) return rest;
    const [start, end] = aside;
    const at = rest.indexOf(end, start.length);
    if (at < 0) return '';
    rest = rest.slice(at + end.length).trimStart();
  }
}

const entity = /<!ENTITY\s+([^\s%"'<>]+)\s+(?:"([^"]*)"|'([^']*)')\s*>/y;

/** Returns the general entities of an internal subset of a DOCTYPE. */
function entitiesOf(doctype: string): Map<string, string> {
  const found = new Map<string, string>();
  for (let at = doctype.indexOf('<!'); at >= 0; at = doctype.indexOf('<!', at)) {
    if (doctype.startsWith('<!--', at)) {
      at = doctype.indexOf('-->', at + 4);
      if (at < 0) break;
      continue;
    }
    entity.lastIndex = at;
    const [whole = '<!', name = '', inDouble, inSingle] = entity.exec(doctype) ?? [];
    // The first declaration of a name counts (XML 1.0, section 4.2).
    if (name !== '' && !found.has(name)) found.set(name, inDouble ?? inSingle ?? '');
    at += whole.length;
  }
  return found;
}

/** Reads XML up to an error after its root, or to its end. */
export function readXml({ text, isWhole, isDamaged }: Markup): Xml {
  const parser = new SaxesParser({ xmlns: true });
  let root: XmlRoot | undefined;
  let flaw = isDamaged ? 'its encoding is not UTF-8' : undefined;
  let excess: string | undefined;
  let depth = 0;
  let expansion = 0;
  const stopFor = (reason: string) => {
    excess = reason;
    throw new Stop();
  };
  const declare = (name: string, value: string) =>
    Object.defineProperty(parser.ENTITIES, name, {
      get() {
        expansion += value.length;
        if (expansion > maxExpansion)
          stopFor(`its entities stand for more than ${maxExpansion} characters`);
        return value;
      },
    });
  parser.on('doctype', (doctype) => {
    if (doctype.length > maxDoctypeLength)
      stopFor(`its DOCTYPE has more than ${maxDoctypeLength} characters`);
    for (const [name, value] of entitiesOf(doctype)) declare(name, value);
  });
  parser.on('error', ({ message }) => {
    const [, line, what] = /^(\d+):\d+: (.*?)\.?$/s.exec(message.slice(0, maxFlawLength)) ?? [];
    flaw ??= line === undefined ? message.slice(0, maxFlawLength) : `line ${line}: ${what}`;
    // The root may still come: a wrong prolog does not change the kind of the file.
    if (root) throw new Stop();
  });
  parser.on('opentag', ({ local, uri, isSelfClosing }) => {
    root ??= { name: local, namespace: uri };
    if (!isSelfClosing && ++depth >= maxDepth) throw new Stop();
  });
  parser.on('closetag', ({ isSelfClosing }) => {
    if (!isSelfClosing) depth--;
  });
  try {
    parser.write(text);
    if (isWhole) parser.close();
  } catch (error) {
    if (!(error instanceof Stop)) throw error;
  }
  return { root, flaw, excess };
}
