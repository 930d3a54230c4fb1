import type { Publication } from '../../client/entities.ts';
import type { FieldError } from '../../domain/error.ts';
import { type Scenario, scenario } from '../../simulator/fleet/scenario.ts';
import { readInput } from '../options/input-file.ts';
import { usage } from '../options/settings.ts';
import {
  checkDocument,
  invalidFile,
  parseDocuments,
  type SourceDocument,
} from '../options/source-document.ts';
import type { Io } from '../terminal/io.ts';
import { fixtureNames, readFixture } from './fixtures.ts';

/** A scenario, with the content of its playlist. */
export interface ReadScenario extends Omit<Scenario, 'playlist'> {
  playlist?: Publication | undefined;
}

const nameForm = /^[a-z0-9-]+$/;
const mediaUrl = 'https://media.example.com';

/** Reads the text of a scenario. A text that does not match `nameForm` is a path. */
async function readText(io: Io, text: string): Promise<string> {
  if (!nameForm.test(text)) return readInput(io, text);
  const names = fixtureNames('scenarios');
  if (names.includes(text)) return readFixture('scenarios', text);
  throw usage(
    `There is no scenario "${text}": choose one of ${names.join(', ')}, or give a file, such as ./${text}.yaml.`,
  );
}

function playlistNamed(source: SourceDocument, name: string): Publication {
  const names = fixtureNames('playlists');
  if (!names.includes(name)) {
    const message = `must be a playlist, or the name of one of ${names.join(', ')}`;
    throw invalidFile([source.complaint(['playlist'], message)]);
  }
  const text = readFixture('playlists', name);
  return JSON.parse(text.replaceAll('{media}', mediaUrl)) as Publication;
}

/** Reads a scenario by name or from a file. Throws `invalid_file` with each error and its line. */
export async function readScenario(io: Io, file: string): Promise<ReadScenario> {
  const documents = parseDocuments(await readText(io, file), file);
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
    playlist: typeof playlist === 'string' ? playlistNamed(first, playlist) : playlist,
  };
}
