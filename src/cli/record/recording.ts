import { z } from 'zod';
import { SignageError } from '../../domain/error.ts';
import { tryParseJson } from '../../domain/json/try-parse-json.ts';

/**
 * Outcome of an exchange. `answered`: the whole answer reached the TV. `tv_left`: the TV closed its
 * connection earlier. `request_cut`: the request did not arrive completely. `service_left`: the
 * service closed its connection before the end. `unreachable`: the recorder answered with 502.
 */
const outcomes = ['answered', 'tv_left', 'request_cut', 'service_left', 'unreachable'] as const;
export type Outcome = (typeof outcomes)[number];

/** A rule of the protocol that a request or an answer breaks. */
const violation = z.object({
  in: z.enum(['request', 'answer']),
  /**
   * Path of the violation: a JSON Pointer, `query.<name>`, `header.<name>`, `method`, `path` or
   * `status`.
   */
  path: z.string(),
  message: z.string(),
  /** Section of docs/protocol.md, such as `2.5`. */
  section: z.string(),
});
export type Violation = z.infer<typeof violation>;

/**
 * A request or an answer. `json` is its body. A body that is not JSON or is too large has only its
 * length and an HMAC. Equal bodies have equal HMACs within a recording.
 */
const message = z.object({
  headers: z.record(z.string(), z.string()),
  json: z.unknown().optional(),
  bytes: z.int().min(0).optional(),
  hash: z.string().optional(),
});
export type RecordedMessage = z.infer<typeof message>;

/** One line of a recording. Names such as `dak_#1` replace secrets. */
const recordedExchange = z.object({
  /** Arrival time of the request. */
  at: z.iso.datetime(),
  /** Milliseconds from the arrival of the headers to the end of the answer. */
  ms: z.number().min(0),
  /** Operation id. `null`: the protocol has no such endpoint. */
  operation: z.string().nullable(),
  method: z.string().regex(/^[A-Z-]+$/),
  path: z.string().regex(/^\/[\x21-\x7e]*$/),
  request: message,
  /** Status that the TV got. `null`: the TV got no answer. */
  status: z.int().nullable(),
  answer: message,
  outcome: z.enum(outcomes),
  wrong: z.array(violation),
});
export type RecordedExchange = z.infer<typeof recordedExchange>;

function readLine(line: string, place: string): RecordedExchange {
  const { data, error } = recordedExchange.safeParse(tryParseJson(line));
  if (data) return data;
  const [issue] = error.issues;
  const member = issue && issue.path.length > 0 ? ` (${issue.path.join('.')})` : '';
  throw new SignageError('invalid_file', `${place} is not an exchange of a recording${member}.`, {
    hint: 'signage record --out FILE makes recordings.',
  });
}

/**
 * Returns the exchanges of a recording in order of their requests. Ignores an incomplete last line,
 * which a killed recorder leaves. Throws `invalid_file` for any other invalid line.
 */
export function readRecording(text: string, file: string): RecordedExchange[] {
  const lines = text.split('\n');
  const last = lines.pop() ?? '';
  if (tryParseJson(last) !== undefined) lines.push(last);
  const exchanges = lines.map((line, at) => readLine(line, `${file}, line ${at + 1},`));
  return exchanges.sort((one, other) => Date.parse(one.at) - Date.parse(other.at));
}
