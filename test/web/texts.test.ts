// The texts of the web player in all its languages.
import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { playerLanguages } from '../../src/domain/records/config.ts';
import { english, type Texts } from '../../src/web/texts/english.ts';
import { fill } from '../../src/web/texts/phrase.ts';

const folder = new URL('../../src/web/', import.meta.url);
const others = playerLanguages.filter((language) => language !== 'en');
const names = Object.keys(english) as (keyof Texts)[];

it('there is a file for each language that the config allows', () => {
  const files = readdirSync(new URL('texts', folder)).filter((file) => /^..\.ts$/.test(file));
  expect(files.sort()).toEqual(others.map((language) => `${language}.ts`));
});

it.each(others)(
  '%s has each text, in its own words, with the same placeholders',
  async (language) => {
    const { texts } = (await import(`../../src/web/texts/${language}.ts`)) as { texts: Texts };
    expect(Object.keys(texts)).toEqual(names);
    const placeholders = (text: string) => (text.match(/\{\w+\}/g) ?? []).sort();
    for (const name of names) {
      expect(texts[name], name).not.toBe(english[name]);
      expect(texts[name].trim(), name).not.toBe('');
      expect(placeholders(texts[name]), name).toEqual(placeholders(english[name]));
    }
  },
);

it('no other file of the player has a sentence for people', () => {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.ts') && !/^(?:board|check|texts|device-info)\b/.test(file),
  );
  expect(files.length).toBeGreaterThan(30);
  const sentences = files.flatMap((file) => {
    const code = readFileSync(new URL(file, folder), 'utf8').replaceAll(
      /^\s*(?:\/\/|\*|\/\*).*$/gm,
      '',
    );
    const literals = code.match(
      /(?<!(?:Error|super)\()(?:'[A-Z][^'\n]* [^'\n]*'|`[A-Z][^`]* [^`]*`)/g,
    );
    return (literals ?? []).map((literal) => `${file}: ${literal}`);
  });
  expect(sentences).toEqual([]);
});

it('placeholders are filled in', () => {
  expect(fill('{host} answers {status}', { host: '{status}', status: 410 })).toBe(
    '{status} answers 410',
  );
});
