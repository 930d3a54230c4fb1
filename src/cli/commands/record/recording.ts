import { z } from 'zod';
import { SignageError } from '../../../domain/error.ts';
import { tryParseJson } from '../../../domain/json/try-parse-json.ts';

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

/** The size of a body, and the headers whose values are words of HTTP or of the protocol. */
const message = z.object({ bytes: z.int().min(0), headers: z.record(z.string(), z.string()) });
export type RecordedMessage = z.infer<typeof message>;

/** One line of a recording. */
const recordedExchange = z.object({
  /** Arrival time of the request. */
  at: z.iso.datetime(),
  /** Milliseconds from the arrival of the headers to the end of the answer. */
  ms: z.number().min(0),
  /** Number of the TV in the recording. `null`: the management API. */
  tv: z.int().min(1).nullable(),
  /** Operation id. `null`: the protocol has no such endpoint. */
  operation: z.string().nullable(),
  method: z.string().regex(/^[A-Z-]+$/),
  /** Template of the path: `/devices/:id/playlist`. `*` stands for other parts. */
  path: z.string(),
  request: message,
  /** Status that the TV got. `null`: the TV got no answer. */
  status: z.int().nullable(),
  /** Error code of the answer. */
  code: z.string().optional(),
  answer: message,
  outcome: z.enum(outcomes),
  /** The events of a batch. `null` is a type that breaks the rules of types. */
  events: z
    .array(
      z.object({
        type: z.string().nullable(),
        timestamp: z.number().optional(),
        duration: z.number().optional(),
      }),
    )
    .optional(),
  /** The intervals of a config that the TV got. */
  config: z
    .object({
      syncIntervalMinutes: z.number().optional(),
      heartbeatIntervalMinutes: z.number().optional(),
    })
    .optional(),
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
