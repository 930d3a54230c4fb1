import type { MakeRequester } from '../client/requester.ts';
import type { Exchanged } from '../client/transport.ts';
import type { Clock, Random } from '../domain/clock.ts';
import type { OptionRules } from '../options/check-options.ts';
import {
  callable,
  clockShape,
  listOf,
  oneOf,
  signalShape,
  text,
  texts,
} from '../options/shapes.ts';
import type { Level, Need } from './fixture/check.ts';
import type { Deployment } from './rights.ts';

/** Options of `runConformance`. */
export interface ConformanceOptions extends Deployment {
  /** CA certificates (PEM) to trust in place of Node's own. Default: Node's own. */
  certificates?: readonly string[] | undefined;
  /** Makes the function that sends the requests. Default: `node:http`. */
  makeRequester?: MakeRequester | undefined;
  /** Called after each request. */
  onExchange?: ((exchange: Exchanged) => void) | undefined;
  /** Runs only the checks of this level. Default: all levels. */
  only?: Level | undefined;
  /** Runs only the checks whose id begins with one of these texts. Default: all. */
  ids?: readonly string[];
  /**
   * Permits checks that wait for expiry (`time`), lock this address out (`guessing`), or create a
   * second tenant (`tenants`). Default: none.
   */
  allow?: readonly Need[];
  clock?: Clock;
  random?: Random;
  signal?: AbortSignal | undefined;
  /** Called before each check with the number of finished checks and the total. */
  onProgress?(done: number, of: number): void;
  /** Called at the end with the records that could not be deleted, and why. */
  onLeft?(remaining: readonly string[]): void;
}

export const conformanceRules: OptionRules<ConformanceOptions> = {
  of: 'runConformance',
  shapes: {
    url: text,
    token: text,
    tenantId: text,
    certificates: texts,
    makeRequester: callable,
    onExchange: callable,
    only: oneOf('required', 'profile'),
    ids: texts,
    allow: listOf('time', 'guessing', 'tokens', 'platform', 'tenants'),
    clock: clockShape,
    random: callable,
    signal: signalShape,
    onProgress: callable,
    onLeft: callable,
  },
  required: ['url', 'token'],
  secret: ['token'],
};
