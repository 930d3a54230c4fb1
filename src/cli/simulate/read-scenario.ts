import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { FieldError } from '../../domain/error.ts';
import type { Publication } from '../../simulator/fleet/provision.ts';
import { type Scenario, scenario } from '../../simulator/fleet/scenario.ts';
import { readInput } from '../options/input-file.ts';
import { usage } from '../options/settings.ts';
import {
  checkDocument,
  invalidFile,
  parseDocuments,
  type SourceDocument,
} from '../site/source-document.ts';
import type { Io } from '../terminal/io.ts';

/** A scenario, with the content of its playlist. */
export interface ReadScenario extends Omit<Scenario, 'playlist'> {
  playlist?: Publication | undefined;
}

const fixtures = fileURLToPath(new URL('../../../fixtures/', import.meta.url));
const nameForm = /^[a-z0-9-]+$/;
const mediaUrl = 'https://media.example.com';

/** Returns the fixture of this name, and all names. `file` is `undefined` if it does not exist. */
function fixture(
  folder: string,
  name: string,
  ending: string,
): { file: string | undefined; names: string } {
  const files = readdirSync(fixtures + folder).filter((file) => file.endsWith(ending));
  const file = `${name}${ending}`;
  return {
    file: files.includes(file) ? `${fixtures}${folder}/${file}` : undefined,
    names: files.map((one) => one.slice(0, -ending.length)).join(', '),
  };
}

/** Returns the file of a named scenario. Any other text is a path already. */
function fileOf(text: string): string {
  if (!nameForm.test(text)) return text;
  const { file, names } = fixture('scenarios', text, '.yaml');
  if (file !== undefined) return file;
  throw usage(
    `There is no scenario "${text}": choose one of ${names}, or give a file, such as ./${text}.yaml.`,
  );
}

async function playlistNamed(source: SourceDocument, name: string): Promise<Publication> {
  const { file, names } = fixture('playlists', name, '.json');
  if (file === undefined)
    throw invalidFile([
      source.complaint(['playlist'], `must be a playlist, or the name of one of ${names}`),
    ]);
  return JSON.parse((await readFile(file, 'utf8')).replaceAll('{media}', mediaUrl)) as Publication;
}

/** Reads a scenario by name or from a file. Throws `invalid_file` with each error and its line. */
export async function readScenario(io: Io, text: string): Promise<ReadScenario> {
  const file = fileOf(text);
  const documents = parseDocuments(await readInput(io, file), file);
  const complaints: FieldError[] = [];
  const [first, ...more] = documents;
  if (!first || more.length > 0)
    throw invalidFile([
      { path: file, message: `must contain one scenario, not ${documents.length}` },
    ]);
  const content = checkDocument(scenario, first, complaints);
  if (!content) throw invalidFile(complaints);
  const { playlist } = content;
  return {
    ...content,
    playlist: typeof playlist === 'string' ? await playlistNamed(first, playlist) : playlist,
  };
}
