/** Returns the part of the base64 text that does not depend on the bytes before and after. */
function withinBase64(secret: Buffer, offset: number): string {
  const text = Buffer.concat([Buffer.alloc(offset), secret])
    .toString('base64')
    .replace(/=+$/, '');
  const tail = (offset + secret.length) % 3 === 0 ? text.length : text.length - 1;
  return text.slice(Math.ceil((offset * 4) / 3), tail);
}

/** Returns encodings in which a secret could appear. */
function formsOf(secret: string): [form: string, text: string][] {
  const bytes = Buffer.from(secret);
  const base64 = [0, 1, 2].map((offset) => withinBase64(bytes, offset));
  return [
    ...base64.map((text): [string, string] => ['base64', text]),
    ...base64.map((text): [string, string] => [
      'base64url',
      text.replaceAll('+', '-').replaceAll('/', '_'),
    ]),
    ['hex', bytes.toString('hex')],
    ['UTF-16', Buffer.from(secret, 'utf16le').toString('latin1')],
    ['URL', encodeURIComponent(secret)],
    ['JSON', JSON.stringify(secret).slice(1, -1)],
    ['reversed', [...secret].reverse().join('')],
  ];
}

/** Secrets of a scenario by name, and the search for them. */
export class Sentinels {
  readonly #forms = new Map<
    string,
    { secret: string; plain: string; others: [form: string, text: string][] }
  >();

  /** Records a secret and returns it. */
  add(name: string, secret: string): string {
    if (secret.length < 8) throw new Error(`${name} is too short to be searched for.`);
    this.#forms.set(name, { secret, plain: secret.toLowerCase(), others: formsOf(secret) });
    return secret;
  }

  get secrets(): string[] {
    return [...this.#forms.values()].map(({ secret }) => secret);
  }

  /** Returns the names of the secrets in these contents, in any case or encoding. */
  in(contents: string | Buffer): string[] {
    const text = typeof contents === 'string' ? contents : contents.toString('latin1');
    const lower = text.toLowerCase();
    return [...this.#forms].flatMap(([name, { plain, others }]) => {
      if (lower.includes(plain)) return [name];
      const form = others.find(([kind, one]) =>
        kind === 'hex' || kind === 'reversed'
          ? lower.includes(one.toLowerCase())
          : text.includes(one),
      );
      return form ? [`${name} (${form[0]})`] : [];
    });
  }
}
