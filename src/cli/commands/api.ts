import { SignageError } from '../../domain/error.ts';
import type { CommandContext } from '../command/context.ts';
import { defineCommand, one } from '../command/spec.ts';
import { readDocument } from '../options/input-file.ts';
import * as option from '../options/option.ts';
import { usage } from '../options/settings.ts';
import { asPage, listedPages, type RawPage } from '../output/any-list.ts';
import { makeResults } from '../output/results.ts';
import { anyView } from '../records/views/any-view.ts';
import { printableWithTabs } from '../terminal/escape.ts';

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

/** A path of the service itself: no other address can be named, for the token goes along. */
function readPath(text: string): string {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text))
    throw usage('Give the path alone, such as /v1/venues: --url says where the service is.');
  if (!/^[\x21\x22\x24-\x7e]+$/.test(text))
    throw usage(
      'The path must be percent-encoded, without blanks and fragment: write %20 for a blank.',
    );
  return text.startsWith('/') ? text : `/${text}`;
}

type Answer = NonNullable<Awaited<ReturnType<CommandContext['send']>>>;

/** Status and headers of an answer, beside the result. Of a pairing code in a `Location` only the place is shown. */
async function tellHead({ io }: CommandContext, { status, headers }: Answer): Promise<void> {
  const { shownPath } = await import('../api/connect.ts');
  const lines = Object.entries(headers).flatMap(([name, value]) =>
    [value ?? []].flat().map((one) => `${name}: ${one}`),
  );
  for (const line of [`HTTP ${status}`, ...lines, '']) io.stderr.write(`${shownPath(line)}\n`);
}

/** Sends it; answers `undefined` under `--dry-run`. */
async function exchange(
  call: CommandContext,
  method: Method,
  path: string,
  body?: unknown,
): Promise<Answer | undefined> {
  const answer = await call.send(method, path, body);
  if (answer && call.options.include) await tellHead(call, answer);
  return answer;
}

const noJson = (hint?: string) =>
  new SignageError(
    'unexpected_answer',
    'The answer is no JSON.',
    hint === undefined ? {} : { hint },
  );

/** The body as JSON; `undefined` where there is none, or something else. Throws `unexpected_answer` where JSON was promised. */
function asJson({ text, headers }: Answer): unknown {
  try {
    return JSON.parse(text);
  } catch {
    if (/\bjson\b/i.test(String(headers['content-type'] ?? ''))) throw noJson();
    return undefined;
  }
}

/** What is no JSON comes out line by line as it is, but for what a terminal would obey. */
function showText({ io, common: { output, jq, fields } }: CommandContext, text: string): void {
  if ([output, jq, fields].some((one) => one !== undefined)) {
    throw noJson('Without -o, --jq and --fields it is shown as it is.');
  }
  const lines = text.split(/\r?\n/).map(printableWithTabs).join('\n');
  io.stdout.write(lines === '' || lines.endsWith('\n') ? lines : `${lines}\n`);
}

/** The form of the result: JSON unless another is asked for. */
const resultsOf = ({ io, common }: CommandContext) =>
  makeResults(io, { ...common, output: common.output ?? 'json' });

async function* itemsOf(
  pages: Iterable<RawPage> | AsyncIterable<RawPage>,
): AsyncGenerator<readonly unknown[]> {
  for await (const { items } of pages) yield items;
}

/** An answer as it came in `json` and `yaml`; a page of a list by its items in all other forms. */
async function showAnswer(call: CommandContext, answer: Answer): Promise<void> {
  const value = asJson(answer);
  if (value === undefined) return answer.text === '' ? undefined : showText(call, answer.text);
  const page = ['json', 'yaml'].includes(call.common.output ?? 'json') ? undefined : asPage(value);
  const results = resultsOf(call);
  if (page) await results.list(itemsOf([page]), anyView(page.items[0]));
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
    yield first.value as RawPage;
    yield* pages;
  }
  await resultsOf(call).list(itemsOf(all()), anyView((first.value as RawPage).items[0]));
}

export const command = defineCommand({
  summary: 'Send any request to the service',
  description:
    'For what has no command: the path goes to the service that all commands talk to, with the same token. The answer is shown as JSON, as it ' +
    'came, unless -o says otherwise. See docs/protocol.md, or /docs of the service, for what there is.',
  arguments: {
    method: one(methods.join(', ')),
    path: one('path and query, such as "/v1/venues?search=lobby"'),
  },
  options: {
    file: option.text(
      '-f, --file <file>',
      'send what this file holds, JSON or YAML, as JSON; - reads stdin',
    ),
    paginate: option.flag('--paginate', 'follow a list to its end, and show all of its items'),
    include: option.flag('-i, --include', 'show status and headers of the answer, on stderr'),
  },
  examples: [
    ['signage api GET /v1/me', 'one request'],
    ['signage api GET "/v1/screens?state=active" --paginate --jq ".[].name"', 'all of a list'],
    ['echo \'{"name": "Lobby"}\' | signage api POST /v1/venues -f -', 'with a body'],
  ],
  effect: 'changes',
  async run(call) {
    const { file, paginate } = call.options;
    const method = readMethod(call.args.method);
    const path = readPath(call.args.path);
    if (method === 'GET' && file !== undefined)
      throw usage('GET has no body: leave -f out, or give another method.');
    if (paginate && method !== 'GET') throw usage('--paginate goes with GET.');
    if (paginate) return showPages(call, path);
    const answer = await exchange(
      call,
      method,
      path,
      file === undefined ? undefined : await readDocument(call.io, file),
    );
    if (answer) await showAnswer(call, answer);
  },
});
