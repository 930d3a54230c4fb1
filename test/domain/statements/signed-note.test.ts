import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  openNote,
  readSigner,
  readVerifierKey,
  signingKeyText,
} from '../../../src/domain/statements/signed-note.ts';

interface Case {
  case: string;
  key: string;
  note: string;
}

/** Vectors of another implementation, which the file names. */
const vectors: {
  signingKey: string;
  verifierKey: string;
  text: string;
  note: string;
  opens: Case[];
  refused: Case[];
  badKeys: string[];
} = JSON.parse(readFileSync(new URL('../../fixtures/signed-notes.json', import.meta.url), 'utf8'));

function open(note: string | Uint8Array, key: string) {
  const read = readVerifierKey(key);
  if (!read) throw new Error(`${key} is no key`);
  return openNote(Buffer.from(note), read);
}

describe('a signed note', () => {
  it('has the bytes that the other implementation makes of the same key and text', () => {
    const signer = readSigner(vectors.signingKey);
    expect(signer?.sign(vectors.text)).toBe(vectors.note);
    expect(signer?.verifierKey).toBe(vectors.verifierKey);
  });

  it.each(vectors.opens)('opens with $case', ({ key, note }) =>
    expect(open(note, key)).toBe(vectors.text),
  );

  it.each(vectors.refused)('is refused with $case', ({ key, note }) =>
    expect(open(note, key)).toBeUndefined(),
  );

  it('is refused with an invalid byte of UTF-8', () => {
    const note = Buffer.from(vectors.note.replace('then', '\xff'), 'latin1');
    expect(open(note, vectors.verifierKey)).toBeUndefined();
  });

  it('is refused with each of its bits changed', () => {
    const note = Buffer.from(vectors.note);
    const opened: number[] = [];
    for (let bit = 0; bit < note.length * 8; bit++) {
      const changed = Buffer.from(note);
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      if (open(changed, vectors.verifierKey) !== undefined) opened.push(bit);
    }
    expect(opened).toEqual([]);
  });
});

describe('a key of notes', () => {
  /** All proper parts of a text, and the text with each byte increased by one. */
  function mangled(text: string): string[] {
    const found: string[] = [];
    for (let from = 0; from <= text.length; from++)
      for (let to = from + 1; to <= text.length; to++)
        if (to - from < text.length) found.push(text.slice(from, to));
    for (let at = 0; at < text.length; at++)
      found.push(
        text.slice(0, at) + String.fromCharCode(text.charCodeAt(at) + 1) + text.slice(at + 1),
      );
    return found;
  }

  it('that verifies is refused if anything of it is changed', () => {
    const { verifierKey, badKeys } = vectors;
    expect([...mangled(verifierKey), ...badKeys].filter(readVerifierKey)).toEqual([]);
  });

  it('that signs is refused if anything of it is changed', () =>
    expect(mangled(vectors.signingKey).filter((text) => readSigner(text))).toEqual([]));

  it('signs under its name and a path', () => {
    const text = signingKeyText('signage.example.com', Buffer.alloc(32, 7));
    const signer = readSigner(text, '/tenant');
    expect(signer?.issuer).toBe('signage.example.com');
    expect(signer?.verifierKey).toMatch(/^signage\.example\.com\/tenant\+[0-9a-f]{8}\+/);
    expect(open(signer?.sign('text\n') ?? '', signer?.verifierKey ?? '')).toBe('text\n');
  });
});
