import events from 'node:events';
import { type FileHandle, unlink } from 'node:fs/promises';
import { serviceAddress } from '../../../client/transport.ts';
import { readCertificates } from '../../connection/connect.ts';
import { isLoopback } from '../../connection/loopback.ts';
import { createFile } from '../../connection/private-file.ts';
import { readAddress } from '../../connection/profile.ts';
import { proxyFor } from '../../connection/proxy.ts';
import { unusableFile } from '../../input/file-error.ts';
import { readInput } from '../../input/input-file.ts';
import { usage, type Values } from '../../input/settings.ts';
import type { CommandContext } from '../../program/context.ts';
import { makePainter, type Painter } from '../../terminal/colours.ts';
import { escapeControl, printableJson } from '../../terminal/escape.ts';
import { countText } from '../../terminal/text.ts';
import {
  type CapturedExchange,
  type CapturedMessage,
  type Route,
  routeOf,
} from './captured-exchange.ts';
import { checkExchange } from './check-exchange.ts';
import type { recordOptions } from './options.ts';
import { startProxy } from './proxy.ts';
import { type ParsedExchange, recordedExchange, TvNumbers } from './recorded-exchange.ts';
import { type RecordedExchange, readRecording } from './recording.ts';
import { summarize, summaryView } from './summary.ts';

type RecordOptions = Values<typeof recordOptions>;

/**
 * Throws `usage` if the service is the recorder itself. The recorder would call itself endlessly.
 */
function requireOther(target: string, port: number): void {
  const { hostname, port: targetPort } = new URL(target);
  if (port === 0 || Number(targetPort) !== port || !isLoopback(hostname)) return;
  throw usage(
    `--to and --listen are the same port, ${port}: the recorder would call itself.`,
    'Choose another port with --listen.',
  );
}

function jsonOf({ headers, body }: CapturedMessage): unknown {
  try {
    return body.parse(headers['content-encoding']).json;
  } catch {
    return undefined;
  }
}

const parsedExchange = (exchange: CapturedExchange, { operationId }: Route): ParsedExchange => ({
  ...exchange,
  operationId,
  requestJson: jsonOf(exchange.request),
  answerJson: jsonOf(exchange.answer),
});

function statusColour(status: number | null, { bad, good, warning }: Painter) {
  if (status === null || status >= 500) return bad;
  return status >= 400 ? warning : good;
}

/**
 * Formats an exchange for people: `12:00:05  POST /devices/…/events  202  12 ms`. Adds a line for
 * each violation.
 */
function exchangeLines(exchange: RecordedExchange, paint: Painter): string {
  const { at, ms, method, path, status, code, outcome, wrong } = exchange;
  const answered = `${status ?? 'no answer'}${code === undefined ? '' : ` ${code}`}`;
  const end = outcome === 'answered' ? '' : `  ${outcome}`;
  const lines = [
    `${paint.faint(at.slice(11, 19))}  ${method} ${path}  ${statusColour(status, paint)(answered)}  ${paint.faint(`${ms} ms`)}${end}`,
    ...wrong.map(({ in: where, path: member, message, section }) =>
      paint.bad(
        escapeControl(`  ${where} ${member || 'body'}: ${message} (docs/protocol.md §${section})`),
      ),
    ),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

/** Appends lines to a recording, one after the other. `failed` aborts after the first error. */
class RecordingFile {
  readonly #file: FileHandle;
  readonly #path: string;
  readonly #failed = new AbortController();
  #last: Promise<void> = Promise.resolve();

  constructor(file: FileHandle, path: string) {
    this.#file = file;
    this.#path = path;
  }

  /** Aborts when a line could not be written. */
  get failed(): AbortSignal {
    return this.#failed.signal;
  }

  append(exchange: RecordedExchange): void {
    this.#last = this.#last
      .then(() => this.#file.writeFile(`${printableJson(exchange, 0)}\n`))
      .catch((error) => this.#failed.abort(error));
  }

  /** Throws if a line was not written. */
  async close(): Promise<void> {
    await this.#last;
    await this.#file.close();
    const { aborted, reason } = this.failed;
    if (aborted) throw unusableFile(reason, this.#path, { what: '--out', access: 'written' });
  }
}

async function record(call: CommandContext, options: RecordOptions, out: string): Promise<number> {
  const { io, clock, interrupted, common } = call;
  const { host, port } = options.listen;
  const address = await readAddress({ ...options, url: options.to }, io);
  const target = serviceAddress(address.url.value);
  requireOther(target, port);
  const { caFile } = address;
  const certificates = caFile === undefined ? undefined : await readCertificates(caFile);
  const file = new RecordingFile(await createFile(out, '--out'), out);
  const paint = await makePainter(io, io.stderr);
  const tvs = new TvNumbers();
  const onExchange = (captured: CapturedExchange) => {
    const route = routeOf(captured);
    const parsed = parsedExchange(captured, route);
    const wrong = checkExchange(captured, route);
    const exchange = recordedExchange(parsed, route, tvs.of(parsed), wrong);
    file.append(exchange);
    if (!common.quiet || exchange.wrong.length > 0) io.stderr.write(exchangeLines(exchange, paint));
  };
  const onInvalid = (code: string) => call.note(`A connection sent no valid HTTP: ${code}.`);
  const upstream = proxyFor(new URL(target), io.env);
  const proxied = { target, host, port, clock, onExchange, onInvalid, proxy: upstream };
  const proxy = await startProxy({ ...proxied, ...(certificates && { certificates }) }).catch(
    async (error: unknown) => {
      await file.close();
      await unlink(out);
      throw error;
    },
  );
  call.note(`Recording ${target} to ${out}. Give the TV this address: ${proxy.url}`);
  if (!isLoopback(host))
    call.note('Other machines can connect, and the connection to the recorder is not encrypted.');
  const stop = AbortSignal.any([interrupted, file.failed]);
  if (!stop.aborted) await events.once(stop, 'abort');
  await proxy.close();
  await file.close();
  await printSummary(call, out);
  return Number(interrupted.reason);
}

async function printSummary(call: CommandContext, file: string): Promise<void> {
  const exchanges = readRecording(await readInput(call.io, file), file);
  await call.results.list([summarize(exchanges)], summaryView, 'Nothing was recorded.');
  const wrong = exchanges.filter((one) => one.wrong.length > 0).length;
  call.note(`${countText(exchanges.length, 'exchange')} in ${file}, ${wrong} with violations.`);
}

/** Runs `signage record`. Returns the exit code. */
export async function runRecord(call: CommandContext, options: RecordOptions): Promise<number> {
  const { out, summary } = options;
  if (summary !== undefined) {
    if (out !== undefined) throw usage('--summary reads a recording. Leave out --out.');
    await printSummary(call, summary);
    return 0;
  }
  if (out === undefined) throw usage('--out must be given: the new file of the recording.');
  call.heedHangup();
  return record(call, options, out);
}
