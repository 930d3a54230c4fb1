import { followPages } from '../../client/pages.ts';
import { SignageError } from '../../domain/error.ts';
import type { Operation } from '../../wire/operations/operations.ts';
import { largestPage } from '../connection/client.ts';
import { readSource } from '../input/input-file.ts';
import * as option from '../input/option.ts';
import { usage } from '../input/settings.ts';
import { makeResults } from '../output/results.ts';
import type { Column, View } from '../output/view.ts';
import type { CommandContext } from '../program/context.ts';
import { defineCommand, one } from '../program/spec.ts';
import { printableWithTabs } from '../terminal/escape.ts';
import { isDocument } from '../terminal/format.ts';

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
type Method = (typeof methods)[number];

function readMethod(text: string): Method {
  const method = methods.find((one) => one === text.toUpperCase());
  if (method === undefined)
    throw usage(
      `The method must be one of ${methods.join(', ')}, not "${text}".`,
      'signage api GET /v1/me',
    );
  return method;
}

/** Reads a path of the service. Rejects full URLs, because the request carries the token. */
function readPath(text: string): string {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text))
    throw usage('Give only the path, such as /v1/venues. --url selects the service.');
  if (!/^[\x21\x22\x24-\x7e]+$/.test(text))
    throw usage(
      'The path must be percent-encoded, without spaces or a fragment: write %20 for a space.',
    );
  return text.startsWith('/') ? text : `/${text}`;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Makes a view for records of unknown form. The members of the first record become the columns. */
function anyView(first: unknown): View<unknown> {
  const memberColumn = (name: string): Column<unknown> => ({
    name,
    value: (record) => (isObject(record) && Object.hasOwn(record, name) ? record[name] : undefined),
  });
  const columns = isObject(first)
    ? Object.keys(first).map(memberColumn)
    : [{ name: 'value', value: (record: unknown) => record }];
  return {
    columns,
    nameOf(record) {
      const { name, id } = isObject(record) ? record : {};
      return (
        [name, id].find((one): one is string => typeof one === 'string') ?? JSON.stringify(record)
      );
    },
  };
}

type Answer = NonNullable<Awaited<ReturnType<CommandContext['send']>>>;

/** Writes status and headers to stderr. Redacts secrets, such as a pairing code in `Location`. */
async function writeHead({ io }: CommandContext, { status, headers }: Answer): Promise<void> {
  const { shownPath } = await import('../connection/connect.ts');
  const lines = Object.entries(headers).flatMap(([name, value]) =>
    [value ?? []].flat().map((one) => `${name}: ${one}`),
  );
  for (const line of [`HTTP ${status}`, ...lines, '']) io.stderr.write(`${shownPath(line)}\n`);
}

/** Sends the request. Returns `undefined` under `--dry-run`. */
async function exchange(
  call: CommandContext,
  method: Method,
  path: string,
  body?: unknown,
): Promise<Answer | undefined> {
  const answer = await call.send(method, path, body);
  if (answer && call.options.include) await writeHead(call, answer);
  return answer;
}

const noJson = (hint?: string) =>
  new SignageError(
    'unexpected_answer',
    'The answer is not JSON.',
    hint === undefined ? {} : { hint },
  );

/**
 * Returns the body parsed as JSON, or `undefined` if it is not JSON. Throws `unexpected_answer` if
 * the content type promises JSON.
 */
function asJson({ text, headers }: Answer): unknown {
  try {
    return JSON.parse(text);
  } catch {
    if (/\bjson\b/i.test(String(headers['content-type'] ?? ''))) throw noJson();
    return undefined;
  }
}

/**
 * Writes a body that is not JSON, with control characters escaped. Throws `unexpected_answer` if an
 * output option needs JSON.
 */
function showText({ io, common: { output, jq, fields } }: CommandContext, text: string): void {
  if ([output, jq, fields].some((one) => one !== undefined)) {
    throw noJson('Leave out -o, --jq and --fields to see it unchanged.');
  }
  const lines = text.split(/\r?\n/).map(printableWithTabs).join('\n');
  io.stdout.write(lines === '' || lines.endsWith('\n') ? lines : `${lines}\n`);
}

/** Returns the result writer. Default format: JSON. */
const resultsOf = (call: CommandContext) =>
  makeResults(call, { ...call.common, output: call.common.output ?? 'json' });

interface RawPage {
  items: unknown[];
  nextCursor: string | null;
}

/** Returns a response as a page of a list, `{ items, nextCursor? }`, if it has that form. */
function asPage(answer: unknown): RawPage | undefined {
  const { items, nextCursor } = (answer ?? {}) as { items?: unknown; nextCursor?: unknown };
  return Array.isArray(items)
    ? { items, nextCursor: typeof nextCursor === 'string' ? nextCursor : null }
    : undefined;
}

/** Sets query parameters of a path. */
function withQuery(path: string, changes: Readonly<Record<string, string>>): string {
  const at = path.indexOf('?');
  const query = new URLSearchParams(at < 0 ? '' : path.slice(at + 1));
  for (const [name, value] of Object.entries(changes)) query.set(name, value);
  return `${at < 0 ? path : path.slice(0, at)}?${query}`;
}

/**
 * Yields the pages of the list at a path, from the `cursor` in the path or from the first page.
 * `get` requests one page and parses its JSON.
 */
function listedPages(
  path: string,
  get: (path: string) => Promise<unknown>,
): AsyncGenerator<readonly unknown[]> {
  const first = /[?&]limit=/.test(path) ? path : withQuery(path, { limit: String(largestPage) });
  const read = async (cursor: string | undefined) => {
    const page = asPage(await get(cursor === undefined ? first : withQuery(first, { cursor })));
    if (page) return page;
    throw usage('--paginate needs a list, and the response is not a list.');
  };
  const start = new URLSearchParams(path.split('?')[1]).get('cursor');
  return followPages('this list', read, start ?? undefined);
}

/**
 * Writes the whole response in `json` and `yaml`. In other formats, writes one row for each item if
 * the response is a page of a list.
 */
async function showAnswer(call: CommandContext, answer: Answer): Promise<void> {
  const value = asJson(answer);
  if (value === undefined) return answer.text === '' ? undefined : showText(call, answer.text);
  const page = isDocument(call.common.output ?? 'json') ? undefined : asPage(value);
  const results = resultsOf(call);
  if (page) await results.list([page.items], anyView(page.items[0]));
  else await results.record(value, anyView(value));
}

async function showPages(call: CommandContext, path: string): Promise<void> {
  const pages = listedPages(path, async (one) => {
    const answer = await exchange(call, 'GET', one);
    return answer && asJson(answer);
  });
  const first = await pages.next();
  if (first.done) return;
  async function* all() {
    yield first.value as readonly unknown[];
    yield* pages;
  }
  await resultsOf(call).list(all(), anyView(first.value[0]));
}

/** Returns the schema of the body that an operation takes. `undefined`: no such operation. */
async function bodySchemaOf(method: string, path: string) {
  const { operations } = await import('../../wire/operations/operations.ts');
  const { schemas } = await import('../../wire/schemas.ts');
  const [plain = ''] = path.split('?', 1);
  const isMeant = (operation: Operation) =>
    operation.method === method &&
    new RegExp(`^${operation.path.replaceAll(/:\w+/g, '[^/]+')}$`).test(plain);
  const body = Object.values<Operation>(operations).find(isMeant)?.body;
  return body && schemas[body];
}

/**
 * Reads the body of a request. YAML writes some numbers in another way than JSON: where the
 * operation takes a text, `1.10` is one.
 */
async function readBody(call: CommandContext, method: string, path: string, file: string) {
  const source = await readSource(call.io, file);
  if (source.oddNumbers.length === 0) return source.value;
  const { invalidFile } = await import('../input/source-document.ts');
  const { valueAsWritten } = await import('../input/check-document.ts');
  const schema = await bodySchemaOf(method, path);
  if (schema) return valueAsWritten(schema, source);
  throw invalidFile(
    source.oddNumbers.map(({ path: at, written, value }) =>
      source.complaint(at, `may be a text or a number: write "${written}" or ${value}`),
    ),
  );
}

export const api = defineCommand({
  summary: 'Send any request to the service',
  description: `For operations without a command of their own. The request goes to the service that
all commands use, with the same token. The answer is printed as JSON; -o selects another format.
docs/protocol.md, or /docs of the service, lists all operations.`,
  arguments: {
    method: one(methods.join(', ')),
    path: one('path and query, such as "/v1/venues?search=lobby"'),
  },
  options: {
    file: option.text(
      '-f, --file <file>',
      'request body: a JSON or YAML file, sent as JSON; - reads stdin',
    ),
    paginate: option.flag('--paginate', 'fetch all pages of a list and show all items'),
    include: option.flag('-i, --include', 'print status and headers of the answer on stderr'),
  },
  examples: [
    ['signage api GET /v1/me', 'one request'],
    [
      'signage api GET "/v1/screens?state=active" --paginate --jq ".[].name"',
      'all pages of a list',
    ],
    ['echo \'{"name": "Lobby"}\' | signage api POST /v1/venues -f -', 'a request with a body'],
  ],
  effect: 'changes',
  hints: { not_found: 'Paths begin with /v1, such as /v1/venues. The API reference is at /docs.' },
  async run(call) {
    const { file, paginate } = call.options;
    const method = readMethod(call.args.method);
    const path = readPath(call.args.path);
    if (method === 'GET' && file !== undefined)
      throw usage('GET has no body: leave out -f, or use another method.');
    if (paginate && method !== 'GET') throw usage('--paginate works only with GET.');
    if (paginate) return showPages(call, path);
    const answer = await exchange(
      call,
      method,
      path,
      file === undefined ? undefined : await readBody(call, method, path, file),
    );
    if (answer) await showAnswer(call, answer);
  },
});
