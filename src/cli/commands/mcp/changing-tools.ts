import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { SignageError } from '../../../domain/error.ts';
import { isUrl } from '../../content/shown-items.ts';
import { realPathInside } from '../../input/inside-folder.ts';
import { usage } from '../../input/settings.ts';
import { filled, listed, screen, selector, venue } from './reading-tools.ts';
import type { CommandCall } from './run-commands.ts';

type Args = Record<string, unknown>;
type Document = Record<string, unknown>;

/** A tool that changes something, after a plan. */
export interface ChangingTool {
  description: string;
  input: z.ZodObject;
  isDestructive: boolean;
  /** Whether the user of the client is asked even with `--allow-unattended`. */
  alwaysAsks?: boolean;
  /** Makes the command. `folder` holds the files of this call, and is deleted after it. */
  command(args: Args, place: { root: string; folder: string }): Promise<CommandCall>;
}

const target = {
  screen: screen.optional(),
  venue: venue.optional(),
  selector: selector.optional(),
};
const shown = {
  files: z.array(z.string()).optional().describe('paths below the root folder, or URLs'),
  html: z.string().optional().describe('the text of a whole page, instead of files'),
  duration: z.string().optional().describe('of each item, such as "15s"'),
};
const playlist = z
  .looseObject({ items: z.array(z.looseObject({})) })
  .describe(
    'as playlist get prints it: items with creativeId, creativeUrl, creativeType, duration in seconds; or with file, a path below the root folder',
  );
const end = (what: string) =>
  z.string().describe(`${what}: local time such as "2026-12-04 20:00", or a span such as "2h"`);

/** Members that every changing tool takes besides its own. */
const planMembers = {
  confirm: z.string().optional().describe('the token of the plan; without it nothing is changed'),
  waitFor: z.literal('playing').optional().describe('then wait until the TVs show it'),
  waitSeconds: z.number().int().min(1).max(50).optional().describe('default: 20'),
};

const selected = ({ venue, selector }: Args) => ({
  venue: listed(venue),
  selector: listed(selector),
});
const named = ({ screen }: Args) => (screen === undefined ? [] : [screen]);

/** Returns the real path of a file below the root folder. */
async function pathBelow(root: string, path: string): Promise<string> {
  try {
    return await realPathInside(root, resolve(root, path), { allowOutside: false });
  } catch (error) {
    if (!(error instanceof SignageError)) throw usage(`There is no file ${path} below the root.`);
    throw usage(`${path} is outside the root folder of signage mcp.`);
  }
}

/** Returns a document whose items name files by paths that were checked. */
async function checkedDocument(value: unknown, root: string): Promise<unknown> {
  if (Array.isArray(value)) return Promise.all(value.map((one) => checkedDocument(one, root)));
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).map(async ([name, inner]) => {
    if (name === 'playlist')
      throw usage('Entries take items here: a playlist file may name files elsewhere.');
    const isFile = name === 'file' && typeof inner === 'string';
    return [name, isFile ? await pathBelow(root, inner) : await checkedDocument(inner, root)];
  });
  return Object.fromEntries(await Promise.all(members));
}

/** Returns the words that name what to show: files, URLs, or a file with the page. */
async function shownWords(
  { files = [], html }: Args,
  { root, folder }: { root: string; folder: string },
): Promise<string[]> {
  const words = files as string[];
  if ((html === undefined) === (words.length === 0)) throw usage('Give files, or html.');
  if (html !== undefined) {
    const page = join(folder, 'page.html');
    await writeFile(page, String(html));
    return [page];
  }
  return Promise.all(words.map((word) => (isUrl(word) ? word : pathBelow(root, word))));
}

/** Calls `work` with the real path of the root, and a folder for the files of one call. */
export async function withPlace<T>(
  root: string,
  work: (place: { root: string; folder: string }) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'signage-mcp-'));
  try {
    return await work({ root: await realpath(root), folder });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function documentCall(
  words: CommandCall['words'],
  args: Args,
  { document, root }: { document: unknown; root: string },
): Promise<CommandCall> {
  const stdin = JSON.stringify(await checkedDocument(document, root));
  const flags = { ...filled(selected(args)), file: '-', allowOutside: true };
  return { words, given: [named(args)], flags, stdin };
}

const withTarget = <S extends z.ZodRawShape>(shape: S) =>
  z.strictObject({ ...target, ...shape, ...planMembers });

export const changingTools: Readonly<Record<string, ChangingTool>> = {
  show: {
    description:
      'Replace the playlist of a screen, or of the screens of a venue or with labels, by files, URLs or a page. For something that ends by itself and comes above the schedule, use takeover.',
    input: withTarget({
      ...shown,
      add: z.boolean().optional().describe('append to the items of one screen instead'),
      campaign: z.string().optional().describe('whose plays are counted in reports'),
      validUntil: end('when the playlist ends').optional(),
    }),
    isDestructive: true,
    async command(args, place) {
      const { duration, campaign, validUntil, add } = args;
      const flags = { duration, campaign, validUntil, add: add || undefined, ...selected(args) };
      const given = [[...named(args), ...(await shownWords(args, place))]];
      return { words: ['show'], given, flags: filled(flags) };
    },
  },
  publish: {
    description: 'Publish a playlist as a document, where show is too simple.',
    input: withTarget({ playlist }),
    isDestructive: true,
    command: (args, { root }) =>
      documentCall(['playlist', 'publish'], args, { document: args.playlist, root }),
  },
  rollback: {
    description: 'Publish an earlier version of playlists again, or withdraw them.',
    input: withTarget({
      version: z
        .union([z.number().int().min(1), z.enum(['previous', 'none'])])
        .describe('a number, for one screen; "previous"; or "none", which withdraws'),
      validUntil: end('a new end, or "none"').optional(),
    }),
    isDestructive: true,
    async command(args) {
      const { version, validUntil } = args;
      const flags = filled(selected(args));
      if (version !== 'none') {
        const given = [[...named(args), String(version)]];
        return { words: ['playlist', 'rollback'], given, flags: filled({ ...flags, validUntil }) };
      }
      if (validUntil !== undefined) throw usage('What is withdrawn has no end.');
      return { words: ['playlist', 'withdraw'], given: [named(args)], flags };
    },
  },
  set_schedule: {
    description:
      'Set what plays when on a screen, on the screens with labels, or, with venue alone, in a venue. The plan contains the week as it would be, and entries that never play. Replaces the whole schedule: read it with week first.',
    input: withTarget({
      schedule: z
        .looseObject({ entries: z.array(z.looseObject({})) })
        .nullable()
        .describe(
          'entries with name, days ["mon", …], from "06:00", to "11:00", dates {from, until}, and items or base: true; the first that holds plays; null removes the schedule',
        ),
    }),
    isDestructive: true,
    command(args, { root }) {
      if (args.schedule !== null)
        return documentCall(['schedule', 'set'], args, { document: args.schedule, root });
      const flags = filled(selected(args));
      return Promise.resolve({ words: ['schedule', 'clear'], given: [named(args)], flags });
    },
  },
  takeover: {
    description:
      'Show something above playlist and schedule until a time, when it ends by itself. The user is always asked.',
    input: withTarget({
      ...shown,
      playlist: playlist.optional(),
      until: end('the end'),
    }),
    isDestructive: true,
    alwaysAsks: true,
    async command(args, place) {
      const { until, duration, playlist } = args;
      const flags = filled({ until, duration, ...selected(args) });
      if (playlist === undefined) {
        const given = [[...named(args), ...(await shownWords(args, place))]];
        return { words: ['takeover', 'set'], given, flags };
      }
      if (args.files !== undefined || args.html !== undefined)
        throw usage('Give a playlist, files, or html.');
      const stdin = JSON.stringify(await checkedDocument(playlist as Document, place.root));
      const given = [[...named(args), '-']];
      return { words: ['takeover', 'set'], given, flags: { ...flags, allowOutside: true }, stdin };
    },
  },
  clear_takeover: {
    description: 'End takeovers now. What was there before is back. The user is always asked.',
    input: withTarget({}),
    isDestructive: true,
    alwaysAsks: true,
    async command(args) {
      const flags = filled(selected(args));
      return { words: ['takeover', 'clear'], given: [named(args)], flags };
    },
  },
  pair: {
    description:
      'Pair a TV with a screen: the TV that shows a claim such as K7Q2MX gets a code by itself; without a claim, the answer has the code to type on the TV. The plan says what the TV reports about itself.',
    input: z.strictObject({
      screen,
      claim: z.string().optional().describe('as the TV shows it'),
      ...planMembers,
    }),
    isDestructive: false,
    command: async ({ screen, claim }) =>
      claim === undefined
        ? { words: ['code', 'create'], given: [[screen]] }
        : { words: ['code', 'offer'], given: [screen, [claim]] },
  },
};
