import type { Publication } from '../../../client/entities.ts';
import { RuntimeClient } from '../../../client/runtime-client.ts';
import { minuteMs, secondMs } from '../../../domain/clock.ts';
import type { FieldError } from '../../../domain/error.ts';
import { waitForOfferedCode } from '../../../player/pairing/claim.ts';
import { ticketIn } from '../../../player/pairing/ticket-link.ts';
import type { FleetOptions } from '../../../simulator/fleet/options.ts';
import type { FleetReport } from '../../../simulator/fleet/report.ts';
import { type Scenario, scenario } from '../../../simulator/fleet/scenario.ts';
import { clientConnection, connect, readCertificates } from '../../connection/connect.ts';
import { proxyFor } from '../../connection/proxy.ts';
import { checkDocument } from '../../input/check-document.ts';
import { fixtureNames, readDeviceProfiles, readFixture } from '../../input/fixtures.ts';
import { readInput } from '../../input/input-file.ts';
import { readCode } from '../../input/pairing-code.ts';
import type { Values } from '../../input/settings.ts';
import { usage } from '../../input/settings.ts';
import type { simulateSettings } from '../../input/simulation-options.ts';
import { invalidFile, parseDocuments, type SourceDocument } from '../../input/source-document.ts';
import type { CommandContext } from '../../program/context.ts';
import { failedExitCode } from '../../program/exit-code.ts';
import { mapRecords } from '../../records/for-each-record.ts';
import type { Environment } from '../../terminal/environment.ts';
import type { Io } from '../../terminal/io.ts';
import { withProgress } from '../../terminal/progress.ts';
import { printReport, progressText } from './report-text.ts';

/** A scenario, with the content of its playlist. */
interface ReadScenario extends Omit<Scenario, 'playlist'> {
  playlist?: Publication | undefined;
}

const nameForm = /^[a-z0-9-]+$/;
const mediaUrl = 'https://media.example.com';

/** Reads the text of a scenario. A text that does not match `nameForm` is a path. */
async function readText(io: Io, text: string): Promise<string> {
  if (!nameForm.test(text)) return readInput(io, text);
  const names = fixtureNames('scenarios');
  if (names.includes(text)) return readFixture('scenarios', text);
  throw usage(
    `There is no scenario "${text}": choose one of ${names.join(', ')}, or give a file, such as ./${text}.yaml.`,
  );
}

function playlistNamed(source: SourceDocument, name: string): Publication {
  const names = fixtureNames('playlists');
  if (!names.includes(name)) {
    const message = `must be a playlist, or the name of one of ${names.join(', ')}`;
    throw invalidFile([source.complaint(['playlist'], message)]);
  }
  const text = readFixture('playlists', name);
  return JSON.parse(text.replaceAll('{media}', mediaUrl)) as Publication;
}

/** Reads a scenario by name or from a file. Throws `invalid_file` with each error and its line. */
export async function readScenario(io: Io, file: string): Promise<ReadScenario> {
  const documents = parseDocuments(await readText(io, file), file);
  const complaints: FieldError[] = [];
  const [first, ...more] = documents;
  if (!first || more.length > 0)
    throw invalidFile([
      { path: file, message: `must contain one scenario, not ${documents.length}` },
    ]);
  const content = checkDocument(scenario, first, complaints);
  if (!content) throw invalidFile(complaints);
  const { playlist } = content;
  return {
    ...content,
    playlist: typeof playlist === 'string' ? playlistNamed(first, playlist) : playlist,
  };
}

const defaultDurationMs = 10 * minuteMs;
const lineIntervalMs = 5 * secondMs;

type SimulateValues = Values<typeof simulateSettings>;

/** Returns the service of the profile. With pairing codes, no token is needed. */
async function serviceOf(
  call: CommandContext,
  hasCodes: boolean,
): Promise<Pick<FleetOptions, 'url' | 'token' | 'tenantId' | 'certificates' | 'proxy'>> {
  const profile = await call.profile();
  const url = profile.url.value;
  const connection = {
    url,
    certificates: profile.caFile === undefined ? undefined : await readCertificates(profile.caFile),
    proxy: proxyFor(new URL(url), call.io.env),
  };
  if (hasCodes && !profile.token) return connection;
  const { tenantId } = await connect(profile, call, call.common);
  return { ...connection, token: profile.token?.value, tenantId };
}

/** Reads pairing codes, or the tickets of links. Lines without one are headers of a CSV file. */
async function readCodes({ io }: Environment, file: string) {
  const lines = (await readInput(io, file, { isSecret: true }))
    .split('\n')
    .map((line) => line.trim());
  const tickets = lines.flatMap((line) => ticketIn(line) ?? []);
  if (tickets.length > 0) return { tickets };
  return {
    codes: lines
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((line) => readCode(line)),
  };
}

/** Returns the codes that the links of tickets give. */
async function codesOfTickets(call: CommandContext, tickets: readonly string[]): Promise<string[]> {
  const { clock, random, interrupted: signal } = call;
  const profile = await call.profile();
  const connection = await clientConnection(profile, call, call.common.verbose);
  const client = new RuntimeClient({ ...connection, url: profile.url.value });
  const tv = { client, deviceInfo: { model: 'Simulated TV' }, clock, random, signal };
  const shown = { onClaim: () => {}, accept: async () => true };
  return mapRecords(call, 'Enrolling', tickets, (ticket) =>
    waitForOfferedCode({ ...tv, ...shown, ticket }),
  );
}

/** Combines options and scenario. Options take precedence. */
function fleetOf(settings: SimulateValues, scenario: Partial<ReadScenario>): Partial<FleetOptions> {
  const { life, ramp, speed, count, rotateEvery, faults = [], playlist, config } = scenario;
  const lifeMs = settings.life ?? life;
  return {
    count: settings.count ?? count,
    venue: settings.venue,
    keep: settings.keep,
    speed: settings.speed ?? speed,
    rampMs: settings.ramp ?? ramp,
    lifeMs,
    durationMs: settings.duration ?? (lifeMs === undefined ? defaultDurationMs : undefined),
    rotateEveryMs: settings.rotateEvery ?? rotateEvery,
    maxWaitSeconds: settings.maxWait,
    seed: settings.seed,
    faults: [...faults, ...settings.fault],
    playlist,
    config,
  };
}

/** Runs a fleet with progress: one line in place at a terminal, else a new line every 5 s. */
function runWithProgress(
  call: CommandContext,
  run: (onProgress: FleetOptions['onProgress']) => Promise<FleetReport>,
): Promise<FleetReport> {
  const { io, clock, common } = call;
  let shownAt = clock.now();
  return withProgress(call, (show) =>
    run((progress) => {
      show(progressText(progress));
      if (common.quiet || io.stderr.isTTY || clock.now() - shownAt < lineIntervalMs) return;
      shownAt = clock.now();
      io.stderr.write(`${progressText(progress)}\n`);
    }),
  );
}

/**
 * Makes V8 collect garbage earlier, which halves the memory of a fleet. Without it, the short-lived
 * objects of many TVs pile up.
 */
async function keepHeapSmall(): Promise<void> {
  const { setFlagsFromString } = await import('node:v8');
  setFlagsFromString('--heap-growing-percent=30');
}

/** `signage simulate`: runs a fleet of simulated TVs, shows progress, and prints the report. */
export async function runSimulation(
  call: CommandContext,
  settings: SimulateValues,
): Promise<number> {
  call.heedHangup();
  const { io, clock, random, interrupted } = call;
  const scenario = settings.scenario === undefined ? {} : await readScenario(io, settings.scenario);
  const given = settings.codes === undefined ? undefined : await readCodes(call, settings.codes);
  const service = await serviceOf(call, given !== undefined);
  const codes = given?.tickets ? await codesOfTickets(call, given.tickets) : given?.codes;
  const { runFleet } = await import('../../../simulator/fleet/fleet.ts');
  await keepHeapSmall();
  const names = settings.profile.length > 0 ? settings.profile : scenario.profiles;
  const deviceInfos = readDeviceProfiles(names, '--profile');
  const fleet = { ...service, ...fleetOf(settings, scenario), codes, deviceInfos, clock, random };
  const report = await runWithProgress(call, (onProgress) =>
    runFleet({ ...fleet, signal: interrupted, onProgress }),
  );
  await printReport(call, report);
  if (report.isInterrupted) return Number(interrupted.reason);
  const { findings, outcome } = report.reconciliation;
  return findings.length > 0 || outcome === 'failed' || report.tvs.unpaired > 0
    ? failedExitCode
    : 0;
}
