import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { type Clock, systemClock } from '../domain/clock.ts';
import { type LogSink, silentLog } from '../domain/log.ts';
import { Faults, fractionsOf } from '../faults/faults.ts';
import { parseServiceFault, type RequestFault } from '../faults/parse-fault.ts';
import { makeMetrics } from '../http/metrics/metrics.ts';
import { makeCallableAddresses } from '../network/callable-address.ts';
import { makeWebhookSender } from '../network/webhook-sender.ts';
import { packageVersion } from '../package/version.ts';
import { checkAdminToken } from '../service/assembly/bootstrap.ts';
import { observedStore } from '../service/observed-store.ts';
import { withPastInputs } from '../service/planned/past-inputs.ts';
import type { StatementOptions } from '../service/statements/statement-key.ts';
import { isFolder, type openStore } from '../store/location/open.ts';
import type { Store } from '../store/store.ts';
import { checkDataAccess } from './check-data-access.ts';
import { checkServeOptions } from './check-options.ts';
import { maskedLog } from './masked-log.ts';
import { openMedia } from './media-files.ts';
import { OutageLog } from './outage-log.ts';
import type { ServeOptions } from './serve-options.ts';
import { makeShutdown } from './shutdown.ts';
import { objectStoreOf, onDemandOf } from './wire-origins.ts';

/** The version of this package. Throws in a bundle, which lacks the files of the package. */
function ownVersion(): string {
  const found = packageVersion();
  if (found === undefined)
    throw new Error(
      'signage-kit does not find the files of its package. If a bundler put it into this file, make signage-kit an external package of the bundle.',
    );
  return found;
}

export const version = ownVersion();

/** Returns the clock of all decisions: the time of a store, with the timers of this machine. */
function storeClock(store: Pick<Store, 'now'>, timers: Clock): Clock {
  return {
    now: () => store.now(),
    after: (delayMs, wake) => timers.after(delayMs, wake),
  };
}

/** Reads the fault rules, and logs them. Throws `invalid_option`. */
export function rulesOf(faults: readonly string[], log: LogSink): RequestFault[] {
  const rules = faults.map(parseServiceFault);
  for (const { rule } of rules)
    log.warn({ rule }, 'This service misbehaves on purpose, by a fault rule.');
  return rules;
}

function statementOptions(
  { statementKeyFile: file }: ServeOptions,
  { retentionDays }: { retentionDays: number },
): StatementOptions {
  return { readKey: file === undefined ? undefined : () => readFile(file, 'utf8'), retentionDays };
}

/** Opens everything that the options name, and that must be closed if the start fails. */
export async function openParts(open: typeof openStore, options: ServeOptions) {
  const checked = checkServeOptions(options);
  const { store: given = './signage-data', clock = systemClock, random = randomBytes } = options;
  const outage = new OutageLog(options.log ? maskedLog(options.log) : silentLog, clock);
  const log = outage.sink;
  const folder = typeof given === 'string' && isFolder(given) ? given : undefined;
  checkAdminToken(options.adminToken);
  const faults = options.faults && new Faults(rulesOf(options.faults, log), fractionsOf(random));
  const onDemand = await onDemandOf(options, clock, log);
  if (folder !== undefined)
    await checkDataAccess(folder, { allowOpenData: options.allowOpenData, log });
  const mirrored = await objectStoreOf(options, folder, clock);
  const plain =
    typeof given === 'string'
      ? await open(given, {
          clock,
          random,
          database: options.database,
          onWarning: (message, cause) => log.warn({ err: cause }, message),
          onReachable: outage.onReachable,
          onFailure: (reason) => {
            log.error({ err: reason }, 'The service must be stopped: its store has failed.');
            options.onFailure?.(reason);
          },
        })
      : given;
  const stops = makeShutdown();
  const closeStore = async () => {
    if (typeof given === 'string') await plain.close();
  };
  // After the store, whose lock protects the data folder.
  const media = await openMedia(options, folder, clock).catch(async (error) => {
    await closeStore();
    throw error;
  });
  const metrics = makeMetrics(version);
  const observed = observedStore(withPastInputs(plain), metrics.storeWrite);
  if (folder !== undefined) metrics.watchDisk(folder, clock);
  stops.push(closeStore);
  stops.push(media.close);
  /** Time of the store, which decides. */
  const storeTime = storeClock(observed.store, clock);
  const addresses = makeCallableAddresses(options.webhookAllow ?? []);
  return {
    options,
    checked,
    clock,
    random,
    log,
    metrics,
    stops,
    observed,
    faults,
    isInMemory: folder !== undefined || given === 'memory:',
    onDemand,
    mirrored,
    media,
    storeTime,
    statements: statementOptions(options, checked),
    webhookSender: makeWebhookSender({ addresses, clock: storeTime }),
    /** Aborts when the service begins to stop. */
    stopping: new AbortController(),
  };
}

export type OpenParts = Awaited<ReturnType<typeof openParts>>;
