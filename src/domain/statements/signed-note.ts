import { createPrivateKey, createPublicKey, hash, sign, verify } from 'node:crypto';

/** Signed notes with Ed25519 signatures (https://c2sp.org/signed-note). */
const ed25519 = Buffer.of(1);
/** What precedes a public key and a seed in DER (RFC 8410). */
const spki = Buffer.from('302a300506032b6570032100', 'hex');
const pkcs8 = Buffer.from('302e020100300506032b657004220420', 'hex');
const keyText = /^(PRIVATE\+KEY\+)?([^\s+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/]{44})$/u;
const signatureLine = /^— ([^\s+]+) ([A-Za-z0-9+/=]{8,})$/u;
// biome-ignore lint/suspicious/noControlCharactersInRegex: notes must not contain them
const control = /[\x00-\x09\x0b-\x1f]/;
const maxSignatures = 100;

/** A key that verifies notes. */
export interface NoteKey {
  name: string;
  bytes: Buffer;
}

const idOf = ({ name, bytes }: NoteKey) =>
  hash('sha256', Buffer.concat([Buffer.from(`${name}\n`), ed25519, bytes])).slice(0, 8);
const textOf = (key: NoteKey, bytes: Uint8Array) =>
  `${key.name}+${idOf(key)}+${Buffer.concat([ed25519, bytes]).toString('base64')}`;
const privateKey = (seed: Uint8Array) =>
  createPrivateKey({ key: Buffer.concat([pkcs8, seed]), format: 'der', type: 'pkcs8' });
const publicBytes = (seed: Uint8Array) =>
  createPublicKey(privateKey(seed)).export({ format: 'der', type: 'spki' }).subarray(spki.length);

function readKey(text: string, isPrivate: boolean): (NoteKey & { seed: Buffer }) | undefined {
  const [, prefix, name = '', id, base64 = ''] = keyText.exec(text) ?? [];
  const [type, ...rest] = Buffer.from(base64, 'base64');
  if (type !== ed25519[0] || (prefix !== undefined) !== isPrivate) return undefined;
  const seed = Buffer.from(rest);
  const key = { name, bytes: isPrivate ? publicBytes(seed) : seed };
  return id === idOf(key) ? { ...key, seed } : undefined;
}

/** Reads the text of a key that verifies, `name+id+base64`. `undefined`: it is none. */
export const readVerifierKey = (text: string): NoteKey | undefined => readKey(text, false);

/** Returns the text of a signing key. It is a secret. */
export const signingKeyText = (name: string, seed: Uint8Array): string =>
  `PRIVATE+KEY+${textOf({ name, bytes: publicBytes(seed) }, seed)}`;

export type NoteSigner = NonNullable<ReturnType<typeof readSigner>>;

/** Reads a signing key, which signs under its name and `path`. `undefined`: it is none. */
export function readSigner(text: string, path = '') {
  const read = readKey(text, true);
  if (!read) return undefined;
  const key = { name: `${read.name}${path}`, bytes: read.bytes };
  return {
    issuer: read.name,
    verifierKey: textOf(key, key.bytes),
    /** Returns the note of a text that ends with a line break. */
    sign(signed: string): string {
      const signature = sign(null, Buffer.from(signed), privateKey(read.seed));
      const base64 = Buffer.concat([Buffer.from(idOf(key), 'hex'), signature]).toString('base64');
      return `${signed}\n— ${key.name} ${base64}\n`;
    },
  };
}

/**
 * Returns the text of a note. `undefined`: the key has not signed it. Signatures of other keys are
 * ignored, but each line after the text must be a signature.
 */
export function openNote(note: Uint8Array, key: NoteKey): string | undefined {
  const whole = Buffer.from(note).toString('utf8');
  const end = whole.lastIndexOf('\n\n');
  const text = whole.slice(0, end + 1);
  const lines = whole.slice(end + 2, -1).split('\n');
  const isNote = end >= 0 && whole.endsWith('\n') && !control.test(whole);
  if (!isNote || !Buffer.from(whole).equals(note) || lines.length > maxSignatures) return undefined;
  let isSigned: boolean | undefined;
  for (const line of lines) {
    const [, name, base64 = ''] = signatureLine.exec(line) ?? [];
    const bytes = Buffer.from(base64, 'base64');
    // Other bits could decode to the same bytes.
    if (name === undefined || bytes.toString('base64') !== base64) return undefined;
    if (name !== key.name || bytes.toString('hex', 0, 4) !== idOf(key)) continue;
    const der = Buffer.concat([spki, key.bytes]);
    const verifying = createPublicKey({ key: der, format: 'der', type: 'spki' });
    isSigned ??= verify(null, Buffer.from(text), verifying, bytes.subarray(4));
  }
  return isSigned ? text : undefined;
}
