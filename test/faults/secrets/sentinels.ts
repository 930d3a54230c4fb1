/**
 * Cuts off what depends on the bytes before and after: the text that stands in base64 wherever the
 * secret stands in what was encoded.
 */
function withinBase64(secret: Buffer, offset: number): string {
  const text = Buffer.concat([Buffer.alloc(offset), secret])
    .toString('base64')
    .replace(/=+$/, '');
  const tail = (offset + secret.length) % 3 === 0 ? text.length : text.length - 1;
  return text.slice(Math.ceil((offset * 4) / 3), tail);
}

/** The forms in which a secret could have been written down, beside its own. */
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

/** Secrets that a scenario has used, and the search for them: each by its name. */
export class Sentinels {
  readonly #forms = new Map<
    string,
    { secret: string; plain: string; others: [form: string, text: string][] }
  >();

  /** Remembers the secret; answers it. */
  add(name: string, secret: string): string {
    if (secret.length < 8) throw new Error(`${name} is too short to be searched for.`);
    this.#forms.set(name, { secret, plain: secret.toLowerCase(), others: formsOf(secret) });
    return secret;
  }

  get secrets(): string[] {
    return [...this.#forms.values()].map(({ secret }) => secret);
  }

  /** Which of them stand in this, in any case or any encoding. */
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
