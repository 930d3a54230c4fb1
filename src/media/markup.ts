import { SaxesParser } from 'saxes';

/** The first element of an XML text. */
export interface XmlRoot {
  /** Without its prefix. */
  name: string;
  namespace: string;
  /** The first error in the text. `undefined`: it has none, as far as it was read. */
  fault: string | undefined;
}

/** A text that may be XML or HTML, without its byte order mark. */
export interface Markup {
  text: string;
  /** Whether the file is complete, so that a missing end is a fault. */
  isWhole: boolean;
  /** Whether bytes are invalid in the encoding, and replaced in the text. */
  isDamaged: boolean;
}

/** saxes looks prefixes up in each ancestor, so deep nesting takes quadratic time. */
const maxDepth = 256;

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

/** Returns the general entities of an internal subset of a DOCTYPE. */
function entitiesOf(doctype: string): Record<string, string> {
  const declarations = doctype.replaceAll(/<!--[\s\S]*?-->/g, '');
  const found = declarations.matchAll(/<!ENTITY\s+([^\s%"']+)\s+(?:"([^"]*)"|'([^']*)')\s*>/g);
  return Object.fromEntries(
    [...found].map(([, name = '', inDouble, inSingle]) => [name, inDouble ?? inSingle ?? '']),
  );
}

/** Parses XML. Returns its root element, or `undefined` if there is none. */
export function readXmlRoot({ text, isWhole, isDamaged }: Markup): XmlRoot | undefined {
  const parser = new SaxesParser({ xmlns: true });
  let root: Pick<XmlRoot, 'name' | 'namespace'> | undefined;
  let fault = isDamaged ? 'its encoding is not UTF-8' : undefined;
  let depth = 0;
  parser.on('doctype', (doctype) => Object.assign(parser.ENTITIES, entitiesOf(doctype)));
  parser.on('error', ({ message }) => {
    const [, line, what] = /^(\d+):\d+: (.*?)\.?$/s.exec(message) ?? [];
    fault ??= line === undefined ? message : `line ${line}: ${what}`;
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
  return root && { ...root, fault };
}
