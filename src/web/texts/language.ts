import { english, type Texts } from './english.ts';
import type { Phrase } from './phrase.ts';

/** Names of the files with the texts of the other languages. The build inserts them. */
declare const LANGUAGE_FILES: Readonly<Record<string, string>>;

async function loadTexts(file: string) {
  const response = await fetch(`player/${file}`);
  // An updated service does not have the files of an older page.
  if (!response.ok) throw new Error(`The service answered ${response.status}.`);
  return response.json();
}

/** The language of the page. Texts on the page change when it changes. */
export class Language {
  #texts: Texts = english;
  #wanted = 'en';
  readonly #written = new Map<HTMLElement, () => void>();

  read(phrase: Phrase): string {
    return phrase(this.#texts);
  }

  /** Writes a text into an element, or a part of it, and again in each later language. */
  write(
    element: HTMLElement,
    phrase: Phrase,
    put: (text: string) => void = (text) => {
      element.textContent = text;
    },
  ): void {
    for (const known of this.#written.keys()) if (!known.isConnected) this.#written.delete(known);
    const write = () => put(phrase(this.#texts));
    this.#written.set(element, write);
    write();
  }

  /**
   * Changes the language. Loads its texts from the service, or as the Service Worker has kept them.
   * English without such texts, and the language before if they cannot be loaded.
   *
   * @param tag such as `de-AT`
   */
  async use(tag: string): Promise<void> {
    const name = tag.slice(0, 2).toLowerCase();
    const file = LANGUAGE_FILES[name];
    const wanted = file ? name : 'en';
    if (wanted === this.#wanted) return;
    this.#wanted = wanted;
    try {
      const texts: Texts = file ? await loadTexts(file) : english;
      if (this.#wanted !== wanted) return;
      this.#texts = texts;
      document.documentElement.lang = wanted;
      for (const write of this.#written.values()) write();
    } catch {
      // The next config is another attempt.
      this.#wanted = document.documentElement.lang;
    }
  }
}
