import { isAbsolute, join } from 'node:path';
import { type FieldError, hasCode, SignageError } from '../../domain/error.ts';
import { isObject } from '../../domain/json/is-object.ts';
import { fileText, playsNowhere } from '../examination/finding.ts';
import { type LocalMedia, type MediaReading, readLocalMedia } from '../examination/local-media.ts';
import { fileProblem } from '../input/file-error.ts';
import { realPathInside } from '../input/inside-folder.ts';
import type { Path, SourceDocument } from '../input/source-document.ts';
import { findWrittenPath } from '../input/written-path.ts';
import type { CommandContext } from '../program/context.ts';
import { countText } from '../terminal/text.ts';
import { itemOfFile, type MediaItem } from './media-item.ts';
import { uploadMedia } from './upload.ts';

/** A playlist, or an entry, whose items may name files by their path on the service. */
interface NamingPlaylist {
  items?: readonly object[] | undefined;
}

/** Stands for an item whose file is a mistake, so that only that mistake is reported. */
const anyItem: MediaItem = {
  creativeId: '00000000-0000-4000-8000-000000000000',
  creativeUrl: 'https://media.invalid/',
  creativeType: 'image',
  duration: 1,
};

/** Returns what is wrong with files, once for each kind of finding. */
function fileWarnings(files: readonly LocalMedia[]): string[] {
  const all = files.flatMap(({ path, findings }) => findings.map((one) => ({ path, ...one })));
  const checks = [...new Set(all.map(({ check }) => check))];
  return checks.map((check) => {
    const [first, ...others] = all.filter((one) => one.check === check);
    const more = others.length === 0 ? '' : ` So do ${countText(others.length, 'more file')}.`;
    return first ? `${fileText(first.path, first)}${more}` : '';
  });
}

interface MediaFilesOptions {
  /** Whether documents may name files outside their folder. */
  allowOutside: boolean;
  /** Whether files are taken that no TV shows. */
  force?: boolean | undefined;
}

/** The media files that playlists of a command name, each read once. */
export class MediaFiles {
  readonly #call: MediaReading;
  readonly #options: MediaFilesOptions;
  readonly #byPath = new Map<string, Promise<LocalMedia>>();
  readonly #byId = new Map<string, LocalMedia>();

  constructor(call: MediaReading, options: MediaFilesOptions) {
    this.#call = call;
    this.#options = options;
  }

  /** Examines a file. Throws `media_not_accepted` if no TV shows it as it was meant. */
  async read(path: string): Promise<LocalMedia> {
    const reading = this.#byPath.get(path) ?? readLocalMedia(this.#call, path);
    this.#byPath.set(path, reading);
    const file = await reading;
    const refusal = file.findings.find((one) => playsNowhere(one));
    if (refusal && this.#options.force !== true)
      throw new SignageError('media_not_accepted', fileText(file.path, refusal), {
        hint: 'To take it all the same: --force, or with apply --unexamined.',
      });
    this.#byId.set(file.id, file);
    return file;
  }

  /**
   * Returns a document in which each item with `file` has the members of the file instead. Members
   * that the item has itself stay. Adds mistakes to `fieldErrors`.
   */
  async resolve(source: SourceDocument, fieldErrors: FieldError[]): Promise<SourceDocument> {
    const visit = async (value: unknown, path: Path): Promise<unknown> => {
      if (Array.isArray(value)) {
        const isItems = path.length === 0 || path.at(-1) === 'items';
        const each: unknown[] = [];
        for (const [at, one] of value.entries()) {
          const place = [...path, at];
          if (isItems && isObject(one) && 'file' in one)
            each.push(await this.#itemOf(one, source, place, fieldErrors));
          else if (path.at(-1) === 'items' && typeof one === 'string') {
            const like = /^https?:/i.test(one) ? 'creativeUrl' : 'file';
            fieldErrors.push(
              source.complaint(place, `must be an item, such as { ${like}: ${one} }`),
            );
            each.push(anyItem);
          } else each.push(await visit(one, place));
        }
        return each;
      }
      if (!isObject(value)) return value;
      const members: Record<string, unknown> = {};
      for (const [name, one] of Object.entries(value))
        members[name] = await visit(one, [...path, name]);
      return members;
    };
    return { ...source, value: await visit(source.value, []) };
  }

  async #itemOf(
    { file: given, ...own }: Record<string, unknown>,
    source: SourceDocument,
    path: Path,
    fieldErrors: FieldError[],
  ): Promise<Record<string, unknown>> {
    const refuse = (message: string) =>
      fieldErrors.push(source.complaint([...path, 'file'], message));
    if (typeof given !== 'string' || given === '') {
      refuse('must be the path of a media file');
      return { ...anyItem, ...own };
    }
    if ('creativeUrl' in own) refuse('must not stand beside creativeUrl');
    try {
      const place = await findWrittenPath(given, source.folder);
      const file = await realPathInside(source.folder, place, this.#options);
      const item = itemOfFile(await this.read(file));
      if (item.duration === undefined && !('duration' in own))
        refuse('is a video that does not say its length: give its duration, in seconds');
      return { ...item, ...own, creativeUrl: item.creativeUrl };
    } catch (error) {
      if (hasCode(error, 'interrupted') || hasCode(error, 'unavailable')) throw error;
      refuse(
        hasCode(error, 'invalid_file') || hasCode(error, 'media_not_accepted')
          ? [error.message, error.hint ?? ''].join(' ').replace(/\.? ?$/, '')
          : fileProblem(error, isAbsolute(given) ? given : join(source.folder, given)),
      );
      return { ...anyItem, ...own };
    }
  }

  /** Returns the files that the items of playlists name. */
  namedIn(playlists: readonly NamingPlaylist[]): LocalMedia[] {
    const ids = playlists.flatMap(({ items = [] }) =>
      items.map((item) => {
        const { creativeUrl } = item as { creativeUrl?: unknown };
        return /^\/media\/([0-9a-f]{64})\./.exec(String(creativeUrl))?.[1] ?? '';
      }),
    );
    return [...new Set(ids)].flatMap((id) => this.#byId.get(id) ?? []);
  }

  /** Warns about what some TVs do not show of files. */
  warn(call: CommandContext, files: readonly LocalMedia[]): void {
    for (const text of fileWarnings(files)) call.note(`Warning: ${text}`);
  }

  /** Uploads the files that playlists name and the service lacks, and warns about their faults. */
  async upload(call: CommandContext, playlists: readonly NamingPlaylist[]): Promise<void> {
    const files = this.namedIn(playlists);
    this.warn(call, files);
    const sent = await uploadMedia(call, files, { verifies: false });
    if (sent > 0 && !call.common.dryRun) call.note(`Uploaded ${countText(sent, 'file')}.`);
  }
}
