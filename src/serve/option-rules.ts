import { z } from 'zod';
import type { OptionRules } from '../options/check-options.ts';
import {
  callable,
  clockShape,
  flag,
  settings,
  storeLocation,
  text,
  texts,
  whole,
  withFunctions,
} from '../options/shapes.ts';
import { databaseSettings } from '../store/location/open.ts';
import type { ServeOptions } from './serve-options.ts';

/** Type and range of each option. The compiler keeps the list complete. */
const shapes: OptionRules<ServeOptions>['shapes'] = {
  listen: flag,
  publicUrl: text,
  host: text,
  port: whole(0, 65_535),
  store: storeLocation(
    z.union([text, withFunctions('write')], 'must be a location, or an object of the type Store'),
  ),
  allowOpenData: flag,
  database: databaseSettings,
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
  statementKeyFile: text,
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
  clock: clockShape,
  random: callable,
  log: withFunctions('debug', 'info', 'warn', 'error'),
};

export const serveRules: OptionRules<ServeOptions> = {
  of: 'serve',
  shapes,
  secret: ['adminToken', 'metricsToken', 'onDemandToken', 'onDemand', 'store', 'tls', 'aws'],
};
