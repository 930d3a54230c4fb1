import { inspect } from 'node:util';
import { z } from 'zod';
import { SignageError } from '../domain/error.ts';
import type { ServeOptions } from './serve-options.ts';

const text = z.string('must be a text');
const texts = z.array(text, 'must be a list of texts');
const flag = z.boolean('must be true or false');

function whole(min: number, max: number) {
  const rule = `must be a whole number from ${min} to ${max}`;
  return z.int(rule).min(min, rule).max(max, rule);
}

const callable = z.custom((value) => typeof value === 'function', 'must be a function');

/** An object that has at least these functions. */
function withFunctions(...names: string[]) {
  const isComplete = (value: unknown) =>
    typeof value === 'object' &&
    value !== null &&
    names.every((name) => typeof (value as Record<string, unknown>)[name] === 'function');
  const list = names.join(', ').replace(/, (\w+)$/, ' and $1');
  return z.custom(isComplete, `must be an object with ${list}`);
}

function settings(members: Record<string, z.ZodType>) {
  const list = Object.keys(members).join(', ');
  const optional = Object.entries(members).map(([name, type]) => [name, type.optional()]);
  return z.strictObject(Object.fromEntries(optional), `must be an object with ${list}`);
}

/** Type and range of each option. The compiler keeps the list complete. */
const shapes: Record<keyof ServeOptions, z.ZodType> = {
  listen: flag,
  publicUrl: text,
  host: text,
  port: whole(0, 65_535),
  store: z
    .union([text, withFunctions('write')], 'must be a location, or an object of the type Store')
    .refine(
      (value) => value !== 'memory',
      'must be memory: for a store in memory, or ./memory for a folder',
    ),
  allowOpenData: flag,
  database: settings({
    poolSize: whole(2, 200),
    statementTimeoutSeconds: whole(1, 600),
    lockTimeoutSeconds: whole(1, 600),
  }),
  media: z.union(
    [text, withFunctions('put')],
    'must be a folder, s3://bucket, none, or an object of the type MediaStore',
  ),
  mediaLimitMiB: whole(1, 65_536),
  mediaQuotaMiB: whole(1, 16_777_216),
  playlistQuotaMiB: whole(1, 1_048_576),
  codeTtlMinutes: whole(1, 60),
  retentionDays: whole(1, 36_500),
  authGraceSeconds: whole(0, 86_400),
  maxConnections: whole(1, 200_000),
  keepAliveSeconds: whole(1, 3_600),
  trustProxy: texts,
  webhookAllow: texts,
  corsOrigins: texts,
  compression: flag,
  player: flag,
  tls: settings({ cert: text, key: text }),
  metricsToken: text,
  adminToken: text,
  makesToken: flag,
  newAdminToken: flag,
  keepToken: callable,
  onFailure: callable,
  demo: flag,
  onDemand: z.union([text, callable], 'must be a function, or a URL'),
  onDemandToken: text,
  onDemandTtlSeconds: whole(0, 3_600),
  onDemandTimeoutMs: whole(100, 10_000),
  onDemandConcurrency: whole(1, 1_000),
  objectStore: z.union(
    [text, withFunctions('put')],
    'must be a URL, none, or an object of the type ObjectStore',
  ),
  aws: settings({ accessKeyId: text, secretAccessKey: text, sessionToken: text, region: text }),
  faults: texts,
  clock: withFunctions('now', 'after'),
  random: callable,
  log: withFunctions('debug', 'info', 'warn', 'error'),
};

export const optionNames = Object.keys(shapes) as (keyof ServeOptions)[];

/** Options whose values may be secret, so that no message shows them. */
const secret = new Set([
  'adminToken',
  'metricsToken',
  'onDemandToken',
  'onDemand',
  'store',
  'tls',
  'aws',
]);

/**
 * Throws `invalid_option` for the first option of a wrong type or out of its range. Names the
 * option, the allowed values and, unless it may be secret, the given value.
 */
export function checkShapes(options: ServeOptions): void {
  for (const name of optionNames) {
    const value = options[name];
    const issue = shapes[name].optional().safeParse(value).error?.issues[0];
    if (!issue) continue;
    const member = [name, ...issue.path].join('.');
    const given = secret.has(name) ? '' : `, not ${inspect(value, { depth: 1, breakLength: 80 })}`;
    throw new SignageError('invalid_option', `The option ${member} ${issue.message}${given}.`);
  }
}
